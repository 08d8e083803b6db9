"""The seven steps of a diagnosis, each with what it brought, or why it was not possible.

The order is that of cost against information; from a log alone, from a program that is watched, or
from a full run the same seven stand there, so that nobody takes a gap for a result.
"""

from dataclasses import dataclass

from app.core import units
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.log import BufferKind, Fact, LoadStory, LogEvent, Role
from app.core.proof import TITLES, Proof, why_not
from app.core.rule import Diagnosis

_LIMITS = ("memory.limit", "memory.total", "gpu.0.memory_usable", "os.is_wsl", "os.container")
_RATES = {Fact.PROMPT_RATE: "prompt", Fact.GENERATION_RATE: "generation"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it brought, or "" and why it was not possible."""

    title: str
    brought: str = ""
    why_not: str = ""


def seven_steps(
    evidence: Evidence, diagnosis: Diagnosis, predicted: Forecast, proof: Proof | None = None
) -> tuple[Step, ...]:
    """Return the steps in their order."""
    return (
        _step("The number", _number(evidence), "no rate: a full run measures it"),
        _step("The devices", _devices(evidence), "no program listed its devices"),
        _placement(evidence),
        _step("Memory while it writes", _memory(evidence), _unwatched(evidence)),
        _step("Limits of the platform", _limits(evidence), "the computer was not read"),
        _fault(diagnosis, predicted),
        _proof(evidence, diagnosis, proof),
    )


def _step(title: str, brought: str, why: str) -> Step:
    return Step(title, brought) if brought else Step(title, why_not=why)


def _number(evidence: Evidence) -> str:
    rates = [f"{run.test.value} {units.rate(run.mean_tps)}" for run in evidence.runs[-2:]]
    if rates:
        return ", ".join(rates)
    story = _story(evidence)
    last: dict[Fact, LogEvent] = {event.fact: event for event in story.rates} if story else {}
    said = [
        f"{name} {units.rate(last[fact].number('tps'))}"
        for fact, name in _RATES.items()
        if fact in last and "tps" in last[fact].values
    ]
    return f"{', '.join(said)} (its last request, by the log)" if said else ""


def _devices(evidence: Evidence) -> str:
    story, machine = _story(evidence), evidence.machine
    if story is not None and story.devices_listed is not None:
        return ", ".join(story.devices_listed) or "none but the processor"
    if machine is not None and machine.devices_source:
        return ", ".join(d.id for d in machine.devices) or "none but the processor"
    return ""


def _placement(evidence: Evidence) -> Step:
    title, story = "The placement", _story(evidence)
    if story is None:
        return Step(title, why_not="no log of a load")
    if story.weights_on_device is None:
        why = story.note or "this log does not show the buffers (start llama.cpp with -lv 4)"
        return Step(title, why_not=why)
    held = {
        kind: story.bytes_of(kind, Role.WEIGHTS) for kind in (BufferKind.DEVICE, BufferKind.HOST)
    }
    device, host = (units.size(n) for n in held.values())
    return Step(title, f"{device} of weights on devices, {host} in system memory")


def _memory(evidence: Evidence) -> str:
    watch = evidence.watch
    if watch is None or (watch.swap_in_max is None and watch.swap_out_max is None):
        return ""
    moved = max(watch.swap_in_max or 0.0, watch.swap_out_max or 0.0)
    return f"at most {units.size(moved)} per second to or from the swap"


def _unwatched(evidence: Evidence) -> str:
    if evidence.watch is not None:
        return "this system did not tell its swap traffic"
    return "only a program that runs can be watched"


def _limits(evidence: Evidence) -> str:
    machine = evidence.machine
    known = [machine.fact(path) for path in _LIMITS] if machine is not None else []
    if not any(fact is not None and fact.reading.value is not None for fact in known):
        return ""
    assert machine is not None
    limit, total = machine.number("memory.limit"), machine.number("memory.total")
    found = []
    if limit is not None and total is not None and limit < total:
        found.append(f"this program may use {units.size(limit)} of {units.size(total)}")
    if machine.flag("os.is_wsl"):
        found.append("it runs in WSL")
    if machine.text("os.container"):
        found.append("it runs in a container")
    return "; ".join(found) or "none was found that holds this program in"


def _fault(diagnosis: Diagnosis, predicted: Forecast) -> Step:
    title, found = "One fault and its size", diagnosis.verdict
    size = predicted.prediction.slowdown
    if size is not None:
        said = f"{units.times(size.value)} predicted ({units.times_range(size.low, size.high)})"
    else:
        said = f"no size: {predicted.prediction.reason}"
    return Step(title, f"{found.title if found is not None else 'nothing found'}; {said}")


def _proof(evidence: Evidence, diagnosis: Diagnosis, proof: Proof | None) -> Step:
    title = "One change and its proof"
    if proof is not None:
        head = TITLES[proof.verdict]
        is_said = proof.sentence.startswith(head)
        return Step(title, proof.sentence if is_said else f"{head}: {proof.sentence}")
    reason = why_not(evidence, diagnosis.verdict)
    return Step(title, why_not=reason or "not tried yet")


def _story(evidence: Evidence) -> LoadStory | None:
    return evidence.log.load if evidence.log is not None else None
