"""The runtime's own estimate keeps layers off the GPU, though the sum it prints would fit.

What: Ollama decides before it loads. Its sum holds more than the line shows: the vision part and
its buffer, the larger of two graph sizes, a reserve, two layers of room.
Evidence: the plan line with fewer layers than the model has, none of them asked for.
Arithmetic: vision part + its graph + the larger graph against the free memory of the line.
Fix: a small num_gpu by hand, raised while it loads; or free memory, or a shorter context.
Proof: the next plan says more layers, and the GPU's memory fills.
Sources: Ollama issue 10765 (a maintainer's formula), llm/memory.go of v0.6; users.md row 4.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, seen

_FIRST_TRY = 10  # layers: a small number, since the true sum is not known


def check(evidence: Evidence) -> Finding | None:
    """Find a plan that leaves layers out by itself."""
    plan = evidence.log.last(Fact.OFFLOAD_PLAN) if evidence.log else None
    if plan is None or plan.whole("requested") >= 0:
        return None
    offload, layers = plan.whole("offload"), plan.whole("layers")
    if offload >= layers:
        return None
    extra = [plan.number(name) for name in ("projector", "vision", "graph") if name in plan.values]
    has_vision = plan.number("projector") > 0 if "projector" in plan.values else False
    return Finding(
        cause=f"The runtime's own estimate puts {offload} of {layers} layers on the GPU. "
        f"{_mib(plan, 'free')} are free, and the estimate counts more than the "
        f"{_mib(plan, 'required')} it prints: {_extra(extra, has_vision)}.",
        cites=(seen.cite(plan),),
        fix=_fix(evidence, plan, has_vision),
        proof="The next plan line says more layers, and the GPU's memory fills.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    plan = evidence.log.last(Fact.OFFLOAD_PLAN) if evidence.log else None
    if plan is not None and plan.whole("requested") >= 0:
        return "the number of layers was asked for, not estimated"
    return "the plan has all layers" if plan is not None else ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the runtime"


def _mib(plan: LogEvent, name: str) -> str:
    return units.size(plan.number(name) * units.MIB)


def _extra(parts_mib: list[float], has_vision: bool) -> str:
    if not has_vision:
        return "a reserve and room for two layers"
    total = units.size(sum(parts_mib) * units.MIB)
    return f"the vision part and the buffers of both graphs alone take {total}"


def _fix(evidence: Evidence, plan: LogEvent, has_vision: bool) -> Fix:
    layers = min(_FIRST_TRY, plan.whole("layers") - 1)
    other = " Without pictures, a file without vision part fits." if has_vision else ""
    return command.fix(
        evidence,
        f"The estimate is above what is free. Try num_gpu with a small number ({layers}), and "
        f"raise it while it still loads: too many end in out of memory.{other}",
        ngl=layers,
    )


RULE = Rule(
    id="runtime-estimate",
    title="The runtime's estimate keeps layers off the GPU",
    check=check,
    silent=silent,
    needs=needs,
)
