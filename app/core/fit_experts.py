"""The experts that llama.cpp's own fit left in system memory, which its log does not name."""

from dataclasses import replace

from app.core import fit as fitting
from app.core import host_memory, placement
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.log import Fact, LoadStory
from app.core.request import LoadRequest


def with_experts(evidence: Evidence, story: LoadStory, request: LoadRequest) -> LoadRequest:
    """Return the request of a load that happened with the experts that its fit moved.

    The log says "offloaded M/M" then and names no tensor below its debug level, so the same fit
    is calculated (common_params_fit_impl, build 11434); where it counts other layers, it is not.
    """
    asked, model, machine = evidence.request, evidence.model, evidence.machine
    if asked is None or model is None or machine is None or asked.has_override:
        return request
    is_automatic = asked.ngl is None or asked.ngl < 0
    has_moved = any(story.event(fact) is not None for fact in (Fact.FIT_SHORT, Fact.FIT_DEVICE))
    if not is_automatic or not has_moved or not model.whole("expert_count"):
        return request
    try:
        found = fitting.fit(
            placement.prepare(model),
            machine.devices,
            host_memory.host_of(machine),
            replace(request, ngl=None),
            story.build,
        )
    except UserError:
        return request
    if found.refused or found.not_calculated or found.layers != request.ngl:
        return request
    return replace(request, overrides=found.overrides)
