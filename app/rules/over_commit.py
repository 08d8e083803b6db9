"""Over-commit: the buffers on a device are larger than the device, and it loaded anyway.

What: drivers may let a load exceed the device; the rest then lives in system memory or moves.
Evidence: the breakdown row (self above total), or the sum of a device's buffers above its total.
Arithmetic: weights + KV cache + compute buffers of a device, against its total.
Fix: let the program place the layers. Proof: the sum is below the device's total.
Sources: logs.md section 0 rule 5; tests/data/logs/b10434-vulkan-overcommit-loads-anyway-lv4.log
(2426 MiB on a 2048 MiB device, no warning).
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LogBuffer
from app.core.rule import Cite, Finding, Fix, Rule
from app.rules import command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find a device that holds more than it has."""
    if seen.memory_refused(evidence):  # then it did not load anyway
        return None
    found = _from_breakdown(evidence) or _from_buffers(evidence)
    if found is None:
        return None
    device, used, total, cites = found
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


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no device holds more than it has"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


def _from_breakdown(evidence: Evidence) -> tuple[str, int, int, tuple[Cite, ...]] | None:
    story = seen.load(evidence)
    for row in story.breakdown if story else ():
        if row.fact is not Fact.BREAKDOWN_DEVICE:
            continue
        used, total = (int(row.number(name) * units.MIB) for name in ("self", "total"))
        if used > total > 0:
            return row.word("device"), used, total, (seen.cite(row),)
    return None


def _from_buffers(evidence: Evidence) -> tuple[str, int, int, tuple[Cite, ...]] | None:
    story = seen.load(evidence)
    if story is None:
        return None
    for device in seen.devices(evidence) or ():
        held = [b for b in story.buffers if b.kind is BufferKind.DEVICE and _is_on(b, device.name)]
        used = sum(buffer.n_bytes for buffer in held)
        if device.total_bytes and used > device.total_bytes:
            cites = (device.cite, *seen.cite_buffers(evidence, held))
            return device.name, used, device.total_bytes, cites
    return None


def _is_on(buffer: LogBuffer, device: str) -> bool:
    return (buffer.device or buffer.name) == device


RULE = Rule(
    id="over-commit",
    title="The device holds more than it has",
    check=check,
    silent=silent,
    needs=needs,
)
