"""What a Mac's GPU may use and has: cores, the working set, macOS's memory pressure."""

import json
import re
from typing import Any

from app.core import facts
from app.core.host import Basics, Host
from app.core.machine import MachineFact
from app.core.reading import State
from app.core.units import GIB
from app.probes.text import table, whole

PROFILER = ("system_profiler", "SPDisplaysDataType", "-json")
IOREG = ("ioreg", "-rc", "IOAccelerator", "-d", "1")
VM_STAT = ("vm_stat",)
PRESSURE = ("sysctl", "-n", "kern.memorystatus_vm_pressure_level")
FREE = ("memory_pressure", "-Q")
_LEVELS = {1: "normal", 2: "warning", 4: "critical"}
_PAGE = re.compile(r"page size of ([0-9]{4,6}) bytes")
# the share that macOS lets the GPU use by itself (hardware.md section 6); no page of Apple says it
_SMALL_SHARE, _LARGE_SHARE, _LARGE_BYTES = 2 / 3, 3 / 4, 36 * GIB


def read(host: Host) -> list[MachineFact]:
    """Return gpu.0.cores and the memory pressure."""
    found = [_cores(host)]
    level = _LEVELS.get(whole(host.run(PRESSURE, timeout_s=0.5).stdout) or 0)
    if level:
        source = "sysctl kern.memorystatus_vm_pressure_level"
        found.append(facts.known("pressure.level", level, source=source))
    free = free_share(host.run(FREE, timeout_s=0.5).stdout)
    if free is not None:
        found.append(facts.known("pressure.free", free, source="memory_pressure -Q", unit="%"))
    # what macOS squeezed together before it swaps: read again only after it was unpacked
    size = vm_stat(host.run(VM_STAT, timeout_s=0.5).stdout).get("Pages occupied by compressor")
    if size is not None:
        found.append(facts.known("memory.compressed", size, source="vm_stat", unit="bytes"))
    return found


def default_limit(total_bytes: int) -> int:
    """Return about what macOS lets the GPU use: 2/3 up to 36 GB, 3/4 above."""
    return round(total_bytes * (_LARGE_SHARE if total_bytes > _LARGE_BYTES else _SMALL_SHARE))


def metal_facts(basics: Basics) -> list[MachineFact]:
    """Return what Metal told by a direct call; a raised limit shows in it."""
    return [
        facts.known(f"gpu.0.{path}", value, source=f"Metal {selector}", unit="bytes")
        for path, value, selector in (
            ("working_set", basics.metal_working_set_bytes, "recommendedMaxWorkingSetSize"),
            ("max_buffer", basics.metal_max_buffer_bytes, "maxBufferLength"),
        )
        if value is not None
    ]


def free_share(text: str) -> int | None:
    """Read the share of memory that is free, in per cent, from `memory_pressure -Q`."""
    match = re.search(r"free percentage:\s*([0-9]{1,3})%", text)
    return int(match[1]) if match and int(match[1]) <= 100 else None


def ioreg_cores(text: str) -> int | None:
    """Return the count of `ioreg -rc IOAccelerator`, which answers at once."""
    match = re.search(r'"gpu-core-count"\s*=\s*([0-9]{1,3})\b', text)
    return int(match[1]) if match and int(match[1]) > 0 else None


def profiler_cores(text: str) -> int | None:
    """Return sppci_cores of `system_profiler SPDisplaysDataType -json`, a number as text."""
    for item in _displays(text):
        cores = whole(str(item.get("sppci_cores") or ""))
        if cores is not None and 0 < cores < 1000:
            return cores
    return None


def vm_stat(text: str) -> dict[str, int]:
    """Return the counters of `vm_stat` in bytes; its page is 16 KiB on Apple silicon."""
    match = _PAGE.search(text)
    if match is None:
        return {}
    page = int(match[1])
    found = {}
    for name, value in table(text).items():
        pages = whole(value.rstrip("."))
        if pages is not None and pages >= 0:
            found[name.strip('"')] = pages * page
    return found


def _cores(host: Host) -> MachineFact:
    path = "gpu.0.cores"
    quick = ioreg_cores(host.run(IOREG, timeout_s=1.0).stdout)
    if quick is not None:
        return facts.known(path, quick, source="ioreg gpu-core-count")
    answer = host.run(PROFILER, timeout_s=1.0)
    cores = profiler_cores(answer.stdout)
    source = "system_profiler SPDisplaysDataType"
    if cores is not None:
        return facts.known(path, cores, source=source)
    state = answer.state if answer.state is not State.KNOWN else State.UNSUPPORTED
    reason = answer.reason or "macOS does not tell the number of GPU cores"
    return facts.missing(path, state, source=source, reason=reason)


def _displays(text: str) -> list[dict[str, Any]]:
    try:
        value = json.loads(text[: 1 << 20])
    except (ValueError, RecursionError):
        return []
    items = value.get("SPDisplaysDataType") if isinstance(value, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
