"""The program's own estimate keeps layers off the GPU, or refuses the load, though it may fit.

What: Ollama decides before it loads. Its sum holds more than the line shows: the vision part and
its buffer, the larger of two graph sizes, a reserve, two layers of room. LM Studio's guardrails
guess before anything is allocated, and may be far off or no number at all.
Evidence: the plan line with fewer layers than the model has, none of them asked for, and a printed
sum that is below what is free (above it the model does not fit: layers_moved_by_fit.py). Or the
guardrail's message.
Arithmetic: vision part + its graph + the larger graph against the free memory of the line.
Fix: Ollama: a small num_gpu by hand, raised while it loads. LM Studio: a shorter context, which
the guess grows with; no number: an update.
Proof: the next plan says more layers, and the GPU's memory fills; or the load begins.
Sources: Ollama issue 10765 (a maintainer's formula), llm/memory.go of v0.6; LM Studio issues 1038,
1202, 1631; users.md row 4.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, plans, seen

# LM Studio's words (docs/logs.md)
_GUARDRAILS = ("insufficient system resources", "Not enough resources to load the model")
_EXAMPLE_CTX = 8192  # long enough for most chats
_FIRST_TRY = 10  # layers: a small number, since the true sum is not known


def check(evidence: Evidence) -> Finding | None:
    """Find an estimate that leaves layers out by itself, or stops the load."""
    refused = _refusal(evidence)
    if refused is not None:
        return _refused(evidence, refused)
    short = plans.short_plan(evidence)
    if short is None or short.missing_bytes > 0:
        return None
    plan, offload, layers = short.line, short.offload, short.layers
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
    if plans.short_plan(evidence) is not None:
        return "the sum that it prints is above what is free"
    return "the plan has all layers" if plan is not None else ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the runtime"


def refusals(evidence: Evidence) -> tuple[LogEvent, ...]:
    """Return the lines with which a guess, not an allocation, refuses a load."""
    lines = evidence.log.all(Fact.ERROR_MEMORY) if evidence.log is not None else ()
    return tuple(line for line in lines if any(word in line.text for word in _GUARDRAILS))


def _refusal(evidence: Evidence) -> LogEvent | None:
    """Return the guardrail's message, None when the model was loaded after it."""
    line = next(iter(refusals(evidence)), None)
    ready = evidence.log.last(Fact.LOADED) if evidence.log is not None else None
    return None if line is None or (ready is not None and ready.line > line.line) else line


def _refused(evidence: Evidence, line: LogEvent) -> Finding:
    n_bytes = line.values.get("n_bytes")
    is_no_number = "NaN" in line.text
    guess = f" ({units.size(int(float(n_bytes)))})" if n_bytes is not None else ""
    request = evidence.request
    ctx = request.ctx if request is not None and request.ctx else None
    if is_no_number:
        fix = Fix("Update the program: its guess is no number, so it cannot be right.")
    else:
        fix = command.fix(
            evidence,
            "Set a shorter context (Context Length): the guess grows with it. If the model then "
            "loads with room to spare, the guess was too high: the model loading guardrails in "
            "the settings let you load it anyway.",
            ctx=ctx // 2 if ctx else _EXAMPLE_CTX,
        )
    return Finding(
        cause=f"The program's own guess{guess} stopped the load before anything was allocated. A "
        "guess is not a measurement: what the load really takes was not tried.",
        cites=(seen.cite(line),),
        fix=fix,
        proof="The load begins, and what it takes can be read.",
        certainty=Certainty.LIKELY,
        title="The program's own estimate stopped the load",
    )


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
