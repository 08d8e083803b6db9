"""A limit of the operating system caps the memory, and the load needs more.

What: a container's memory limit, WSL2's share of Windows' memory, the part of memory that an
integrated AMD GPU may map (GTT), or the part that macOS lets the GPU hold.
Evidence: the limit is below the memory that is installed, and the load ran into it: memory was
refused, layers were moved for lack of room, or the file alone is larger.
Arithmetic: limit against installed memory; file size against the limit.
Fix: the one limit, raised by the user, with a reserve for the system; where macOS refused memory
in a request, a shorter context comes first.
Proof: the limit is higher, and the layers are back or the load succeeds.
Sources: advice.md claims 59, 99, 101; hardware.md sections 2 and 7; seed 001
task 4; ds4 issue 890.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.machine import Machine
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import seen

_WSL_RESERVE = 10 * units.GIB  # left to Windows
_MAC_RESERVE = 8 * units.GIB  # left to macOS (advice.md claim 59)
_MAC_DISTANCE = 2 * units.GIB  # a load this far below the limit has room for its buffers
_AMD_RESERVE = 10 * units.GIB
_HALF_LOW, _HALF_HIGH = 0.45, 0.55  # the kernel's default GTT size is about half of memory
_FILE_SHARE = 0.9


def check(evidence: Evidence) -> Finding | None:
    """Find a limit that is lower than the machine, and a load that needs more."""
    machine = evidence.machine
    if machine is None:
        return None
    for find in (_container, _graphics, _mac, _wsl):
        finding = find(evidence, machine)
        if finding is not None:
            return finding
    return None


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no limit of the system stands in the way of this load"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.machine is None or evidence.machine.fact("memory.total") is None:
        return "the limits of this computer were not read"
    return ""


def _container(evidence: Evidence, machine: Machine) -> Finding | None:
    limit, total = machine.number("memory.limit"), machine.number("memory.total")
    if limit is None or total is None or limit >= total or not _is_host_short(evidence, limit):
        return None
    return Finding(
        cause=f"A limit of {units.size(limit)} holds this program in, while the computer has "
        f"{units.size(total)} of memory. The load needs more than the limit.",
        cites=_cites(machine, "memory.limit", "memory.total"),
        fix=Fix("Raise the memory limit of the container or service, then start it again."),
        proof="memory.limit is higher, and the load succeeds.",
    )


def _wsl(evidence: Evidence, machine: Machine) -> Finding | None:
    total = machine.number("memory.total")
    if not machine.flag("os.is_wsl") or total is None or not _is_host_short(evidence, total):
        return None
    return Finding(
        cause=f"WSL2 has {units.size(total)} of memory. By default that is half of what Windows "
        "has, and the load needs more.",
        cites=_cites(machine, "os.is_wsl", "memory.total"),
        fix=Fix(
            "In Windows, write memory=... under [wsl2] in the file .wslconfig: all of Windows' "
            f"memory less {units.gib(_WSL_RESERVE, 0)}. Then stop WSL2 with this command.",
            "wsl --shutdown",
        ),
        proof="Inside WSL2, memory.total is higher, and the load succeeds.",
        certainty=Certainty.LIKELY,
    )


def _graphics(evidence: Evidence, machine: Machine) -> Finding | None:
    total = machine.number("memory.total")
    path = next((f.path for f in machine.facts if f.path.endswith(".gtt_total")), None)
    limit = machine.number(path) if path else None
    if path is None or total is None or limit is None or not _is_device_short(evidence):
        return None
    if not _HALF_LOW <= limit / total <= _HALF_HIGH:
        return None
    wanted = (total - _AMD_RESERVE) // units.GIB
    return Finding(
        cause=f"The graphics part of this processor may use {units.size(limit)} of "
        f"{units.size(total)} of memory, the kernel's default. The load needs more.",
        cites=_cites(machine, path, "memory.total"),
        fix=Fix(
            "Raise the limit, then restart. Leave the system its reserve.",
            f"amd-ttm --set {wanted}" if wanted > limit // units.GIB else "",
        ),
        proof=f"{path} is higher, and the layers are back.",
        certainty=Certainty.LIKELY,
    )


def _mac(evidence: Evidence, machine: Machine) -> Finding | None:
    limit, total = machine.number("gpu.0.memory_limit"), machine.number("memory.total")
    if limit is None or total is None or not _is_device_short(evidence):
        return None
    wanted = (total - _MAC_RESERVE) // units.MIB
    if limit // units.MIB >= wanted or wanted <= 0:
        return None
    outcome = evidence.outcome
    if seen.memory_refused(evidence) and outcome is not None and outcome.is_ready:
        return _mac_refused(evidence, machine, limit, wanted)
    return Finding(
        cause="macOS limits how much memory the GPU may hold, and the load needs more.",
        cites=_cites(machine, "gpu.0.memory_limit", "gpu.0.memory_total", "memory.total"),
        fix=Fix(
            f"Raise the limit until the next restart. This leaves the system "
            f"{units.gib(_MAC_RESERVE, 0)}.",
            f"sudo sysctl iogpu.wired_limit_mb={wanted}",
        ),
        proof="The total of MTL0 in the device list is higher, and the layers are back.",
        certainty=Certainty.LIKELY,
    )


def _mac_refused(evidence: Evidence, machine: Machine, limit: int, wanted: int) -> Finding:
    error = evidence.log.last(Fact.ERROR_MEMORY) if evidence.log else None
    below = units.gib(limit - _MAC_DISTANCE)
    return Finding(
        cause=f"The load is above what macOS lets the GPU hold, {units.gib(limit, 2)} here. That "
        "is a fixed limit, not free memory: closing programs does not raise it.",
        cites=(
            *((seen.cite(error),) if error is not None else ()),
            *_cites(machine, "gpu.0.memory_limit", "memory.total"),
        ),
        fix=Fix(
            f"Use a shorter context, until all of the load stays below {below}. The second way is "
            f"to raise the limit until the next restart (sudo sysctl iogpu.wired_limit_mb={wanted})"
            "; it takes that memory from the system, which may then stall."
        ),
        proof="The same request ends without the error.",
        certainty=Certainty.LIKELY,
        title="Above the limit of the GPU's memory",
    )


def _is_device_short(evidence: Evidence) -> bool:
    story = seen.load(evidence)
    return seen.memory_refused(evidence) or (story is not None and seen.moved_by_fit(story))


def _is_host_short(evidence: Evidence, limit: int) -> bool:
    size = evidence.model.file_bytes if evidence.model else 0
    return seen.memory_refused(evidence) or size > _FILE_SHARE * limit


def _cites(machine: Machine, *paths: str) -> tuple[Cite, ...]:
    found: list[Cite] = []
    for path in paths:
        fact = machine.fact(path)
        if fact is None or fact.reading.value is None:
            continue
        n_bytes = machine.number(path) if fact.reading.unit == "bytes" else None
        text = units.size(n_bytes) if n_bytes is not None else str(fact.reading.value)
        found.append(Cite(f"{path}: {text}", source=fact.reading.source))
    return tuple(found)


RULE = Rule(
    id="os-ceiling",
    title="A limit of the operating system",
    check=check,
    silent=silent,
    needs=needs,
)
