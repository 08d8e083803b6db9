"""The automatic fit left layers in system memory, because the model does not fit the device.

What: the fit places what fits and leaves a margin. What is left is computed from system memory.
Evidence: Ollama's plan with fewer layers than there are and a sum above what is free; or the fit's
line "cannot meet", an offload line below M/M, and a cache that is too small to
make the room: else the fault is the cache (cache_too_large.py).
Arithmetic: the missing MiB against the whole cache, and against the margin.
Fix: a smaller file of the same model; where the missing part is smaller than what other programs
hold on the device, those first.
Proof: the line says M/M, and the weights in system memory fall to the embedding.
Sources: common_params_fit_impl in llama.cpp common/fit.cpp, build 11434; advice.md claim 60 and
part 3 row "Layers on host, by fit"; slowdown.md section 1.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LoadStory, Role
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import caches, plans, seen
from app.rules.plans import Plan

_SMALL_HOLD = 1 * units.GIB  # held on the device before the load; a screen takes less


def check(evidence: Evidence) -> Finding | None:
    """Find layers that the fit left in system memory for want of room."""
    plan = plans.short_plan(evidence)
    if plan is not None and plan.missing_bytes > 0:
        return _planned(evidence, plan)
    story = seen.load(evidence)
    if story is None or not seen.moved_by_fit(story) or caches.gives_room(story):
        return None
    assert story.offload_line is not None
    n, m = story.offload_line
    need = caches.missing_bytes(story)
    lack = f" {units.size(need)} are missing there." if need is not None else ""
    return Finding(
        cause=f"The model does not fit the device, so the automatic fit left {m - n} of {m} layers "
        f"in system memory.{lack} The KV cache ({units.mib(caches.n_bytes(story))}) alone cannot "
        "make the room.",
        cites=(
            *(seen.cite(event) for event in seen.fit_lines(story)),
            *seen.cite_buffers(evidence, seen.buffers(story, BufferKind.HOST, Role.WEIGHTS)),
        ),
        fix=_fix(evidence, story),
        proof=f"The line says “offloaded {m}/{m} layers”, and the weights in system memory fall "
        "to the embedding.",
    )


def _planned(evidence: Evidence, plan: Plan) -> Finding:
    """Tell of Ollama's plan: it names what is needed and what is free."""
    cache = f", of it {units.size(plan.kv_bytes)} for the context" if plan.kv_bytes else ""
    is_cache = plan.kv_bytes is not None and plan.kv_bytes >= plan.missing_bytes
    first = (
        "Use a shorter context (num_ctx): the part for the context is larger than what is missing, "
        "so with less of it all layers fit."
        if is_cache
        else "Use a shorter context (num_ctx) where the chats allow it: each layer that comes back "
        "helps. For all of them take a smaller file of the same model."
    )
    return Finding(
        cause=f"The model does not fit: {units.size(plan.required_bytes)} are needed{cache}, and "
        f"{units.size(plan.free_bytes)} are free on the GPU. So {plan.layers - plan.offload} of "
        f"{plan.layers} layers are computed from system memory.",
        cites=(seen.cite(plan.line),),
        fix=Fix(first),
        proof="The next plan says more layers, and the GPU's memory fills.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if evidence.log is not None and evidence.log.last(Fact.OFFLOAD_PLAN) is not None:
        return "the plan before the load found room, or was not followed"
    if story is not None and seen.moved_by_fit(story):
        return "a smaller cache would bring them back"
    if story is not None and story.event(Fact.FIT_ENOUGH) is not None:
        return "the automatic fit needed no changes"
    return "no fit decision moved layers"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


def _fix(evidence: Evidence, story: LoadStory) -> Fix:
    need, held = caches.missing_bytes(story), _held_by_others(evidence)
    doubt = seen.doubt_of_layers(evidence)
    if need is not None and held is not None and held >= max(need, _SMALL_HOLD):
        return Fix(
            f"Close what holds memory of the device: {units.size(held)} of it were in use before "
            f"the load, and {units.size(need)} are missing.{doubt}"
        )
    size = units.size(need) if need is not None else "What is missing"
    return Fix(
        f"Take a smaller file of the same model: {size} too much cannot come from the cache "
        f"alone. The next quantisation down is the first to try.{doubt}"
    )


def _held_by_others(evidence: Evidence) -> int | None:
    """Return what was in use on the one device before the load; None = not known or several."""
    used = evidence.log.all(Fact.DEVICE_LISTED) if evidence.log is not None else ()
    found = [event for event in used if event.word("device") != "CPU"]
    named = {event.word("device") for event in found}
    if len(named) != 1 or not {"total_mib", "free_mib"} <= found[-1].values.keys():
        return None
    free = found[-1].number("free_mib")
    return int((found[-1].number("total_mib") - free) * units.MIB)


RULE = Rule(
    id="layers-moved-by-fit",
    title="The model does not fit the device",
    check=check,
    silent=silent,
    needs=needs,
)
