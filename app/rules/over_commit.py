"""Over-commit: the buffers on a device are larger than the device, and it loaded anyway.

What: drivers may let a load exceed the device; the rest then lives in system memory or moves.
Evidence: the breakdown row (self above total), the sum of a device's buffers above its total, or
Metal's own warning with both figures.
Arithmetic: weights + KV cache + compute buffers of a device, against its total.
Fix: let the program place the layers; where the device works in system memory and the load is
larger than all of it, a smaller file. Proof: the sum is below the device's total.
Sources: logs.md section 0 rule 5; tests/data/logs/b10434-vulkan-overcommit-loads-anyway-lv4.log
(2426 MiB on a 2048 MiB device, no warning).
"""

from collections.abc import Iterator

from app.core import units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LogBuffer
from app.core.rule import Cite, Finding, Fix, Rule
from app.rules import command, seen

_Held = tuple[str, int, int, tuple[Cite, ...]]  # device, bytes used, bytes in all, where said


def check(evidence: Evidence) -> Finding | None:
    """Find a device that holds more than it has."""
    if seen.memory_refused(evidence):  # then it did not load anyway
        return None
    told = (*_rows(evidence), *_sums(evidence), *_warned(evidence))
    found = next((held for held in told if held[1] > held[2]), None)
    if found is None:
        return None
    device, used, total, cites = found
    memory = evidence.machine.number("memory.total") if evidence.machine is not None else None
    if memory is not None and used > memory and seen.shares_system_memory(evidence):
        return _too_large(device, used, int(memory), cites)
    return Finding(
        cause=f"{device} has {units.mib(total, 0)} and the load takes {units.mib(used, 0)} of it. "
        "What does not fit is moved to system memory without a word.",
        cites=cites,
        fix=Fix(
            "Remove -ngl and --fit off, so that the program places only what fits.",
            command.server(evidence, ngl=None),
        ),
        proof=f"The sum of the buffers on {device} is below {units.mib(total, 0)}.",
    )


def _too_large(device: str, used: int, memory: int, cites: tuple[Cite, ...]) -> Finding:
    """Say it of a device that works in system memory: no setting finds room that is not there."""
    return Finding(
        cause=f"The load takes {units.size(used)} on {device}, which works in the memory of the "
        f"computer, and that has {units.size(memory)}.",
        cites=cites,
        fix=Fix(
            "Take a smaller file of the same model, or a smaller model: no setting makes room for "
            "this one."
        ),
        proof=f"The sum of the buffers is below {units.size(memory)}.",
        title="The model is larger than the memory",
    )


def _warned(evidence: Evidence) -> Iterator[_Held]:
    """Return what Metal says when it has given out more than it recommends."""
    for line in evidence.log.all(Fact.MEMORY_PRESSURE) if evidence.log is not None else ():
        if {"used_mib", "limit_mib"} <= line.values.keys():
            used, limit = (int(line.number(name) * units.MIB) for name in ("used_mib", "limit_mib"))
            yield "the GPU", used, limit, (seen.cite(line),)


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    held = tuple(
        f"{units.mib(used, 0)} of {units.mib(total, 0)} on {name}"
        for name, used, total, _ in tuple(_rows(evidence)) or _sums(evidence)
        if used
    )
    if not held:
        return "the log shows no memory in use on a device"
    return f"the load needs {', '.join(held)}"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


def _rows(evidence: Evidence) -> Iterator[_Held]:
    """Return what the breakdown says of each device."""
    story = seen.load(evidence)
    for row in story.breakdown if story else ():
        if row.fact is not Fact.BREAKDOWN_DEVICE:
            continue
        used, total = (int(row.number(name) * units.MIB) for name in ("self", "total"))
        if total > 0:
            yield row.word("device"), used, total, (seen.cite(row),)


def _sums(evidence: Evidence) -> Iterator[_Held]:
    """Return the sum of the buffers on each device that names its memory."""
    story = seen.load(evidence)
    for device in seen.devices(evidence) or ():
        if story is None or not device.total_bytes:
            continue
        held = [b for b in story.buffers if b.kind is BufferKind.DEVICE and _is_on(b, device.name)]
        cites = (device.cite, *seen.cite_buffers(evidence, held))
        yield device.name, sum(buffer.n_bytes for buffer in held), device.total_bytes, cites


def _is_on(buffer: LogBuffer, device: str) -> bool:
    return (buffer.device or buffer.name) == device


RULE = Rule(
    id="over-commit",
    title="The device holds more than it has",
    check=check,
    silent=silent,
    needs=needs,
)
