"""Watches swap, page re-reads and other programs' CPU while a measurement runs."""

import mmap
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

from app.core.evidence import MemoryWatch
from app.probes import pdh_memory
from app.probes.pdh_memory import Paging
from app.probes.text import table, whole

_VMSTAT = "/proc/vmstat"
# pswpin and pswpout count pages; workingset_refault_file counts pages of files, a mapped model's
# too, that were thrown out and read again: then pswpin stays 0 (hardware.md section 2)
_COUNTERS = ("pswpin", "pswpout", "workingset_refault_file")


SOURCE = f"{_VMSTAT} and psutil" if Path(_VMSTAT).exists() else "psutil"


@dataclass(frozen=True, slots=True)
class Counters:
    """One reading; bytes and CPU seconds since start, None = the system does not tell."""

    at_s: float
    swap_in_bytes: int | None = None
    swap_out_bytes: int | None = None
    refault_bytes: int | None = None
    fault_bytes: int | None = None  # Windows: read for faults, swap and files together
    swap_used_bytes: int | None = None
    busy_cpu_s: float | None = None  # of all programs
    own_cpu_s: dict[int, float] = field(default_factory=dict)  # by process of the run
    own_bytes: dict[int, int] = field(default_factory=dict)  # memory that holds no mapped file


class Meter(Protocol):
    """Where readings come from; tests have their own."""

    def read(self, pids: frozenset[int]) -> Counters:
        """Return a reading; pids are the run's programs, their children count with them."""


class Sampler:
    """Takes readings between start and result; the caller says when, for example each second."""

    def __init__(self, own_pids: Callable[[], frozenset[int]], meter: Meter | None = None) -> None:
        """Watch; own_pids gives the run's programs, whose CPU is not somebody else's."""
        self._own_pids = own_pids
        self._meter = meter or SystemMeter()
        self._first: Counters | None = None
        self._last: Counters | None = None
        self._rates: dict[str, float] = {}
        self._own_bytes: dict[int, tuple[int, int]] = {}  # by process: first, last
        self._n_samples = 0

    def start(self) -> None:
        """Take the first reading, from which rates count."""
        self._first = self._last = self._meter.read(self._pids())
        self._rates = {}
        self._own_bytes = {}
        self._keep_own(self._first)
        self._n_samples = 0

    def sample(self) -> None:
        """Take a reading and keep the highest rates; costs about a millisecond."""
        if self._last is None:
            self.start()
            return
        now = self._meter.read(self._pids())
        seconds = now.at_s - self._last.at_s
        if seconds <= 0:
            return
        self._n_samples += 1
        for name in ("swap_in_bytes", "swap_out_bytes", "refault_bytes", "fault_bytes"):
            self._note(name, _rate(getattr(self._last, name), getattr(now, name), seconds))
        self._note("other_cpu", _other_cores(self._last, now, seconds))
        self._keep_own(now)
        self._last = now

    def result(self) -> MemoryWatch:
        """Return what was seen; a rate that could not be read is None, not 0."""
        first, last = self._first, self._last
        seconds = last.at_s - first.at_s if first and last else 0.0
        return MemoryWatch(
            seconds=seconds,
            n_samples=self._n_samples,
            swap_in_max=self._rates.get("swap_in_bytes"),
            swap_out_max=self._rates.get("swap_out_bytes"),
            refault_max=self._rates.get("refault_bytes"),
            fault_max=self._rates.get("fault_bytes"),
            swap_used_before_bytes=first.swap_used_bytes if first else None,
            swap_used_after_bytes=last.swap_used_bytes if last else None,
            own_growth_bytes=self._growth(),
            other_cpu_max=self._rates.get("other_cpu"),
            cores=psutil.cpu_count(),
            source=SOURCE,
        )

    def _pids(self) -> frozenset[int]:
        return self._own_pids() | {os.getpid()}

    def _keep_own(self, reading: Counters) -> None:
        for pid, now in reading.own_bytes.items():
            first, _last = self._own_bytes.get(pid, (now, now))
            self._own_bytes[pid] = (first, now)

    def _growth(self) -> int | None:
        """Return by how much the run's programs grew while they were seen, all together."""
        if not self._own_bytes or not self._n_samples:
            return None
        return sum(last - first for first, last in self._own_bytes.values())

    def _note(self, name: str, rate: float | None) -> None:
        if rate is not None:
            self._rates[name] = max(rate, self._rates.get(name, 0.0))


class SystemMeter:
    """Reads this computer."""

    def __init__(self) -> None:
        self._paging = pdh_memory.totals()

    def read(self, pids: frozenset[int]) -> Counters:
        """Return a reading of this moment."""
        pages = parse_vmstat(_read_vmstat())
        swap = _swap()
        paging = self._paging.read() if self._paging is not None else Paging()
        written = paging.output_bytes if swap.out_bytes is None else swap.out_bytes
        busy = psutil.cpu_times()
        idle = busy.idle + getattr(busy, "iowait", 0.0) + getattr(busy, "steal", 0.0)
        counted = sum(busy) - idle
        # Linux counts a guest's time twice, in user and in guest
        counted -= getattr(busy, "guest", 0.0) + getattr(busy, "guest_nice", 0.0)
        own = _own(pids)
        return Counters(
            at_s=time.monotonic(),
            swap_in_bytes=_in_bytes(pages.get("pswpin"), swap.in_bytes),
            swap_out_bytes=_in_bytes(pages.get("pswpout"), written),
            refault_bytes=_in_bytes(pages.get("workingset_refault_file")),
            fault_bytes=paging.input_bytes,
            swap_used_bytes=swap.used_bytes,
            busy_cpu_s=counted,
            own_cpu_s={pid: use.cpu_s for pid, use in own.items()},
            own_bytes={pid: use.n_bytes for pid, use in own.items() if use.n_bytes is not None},
        )


def parse_vmstat(text: str) -> dict[str, int]:
    """Return the counters that matter, in pages; before Linux 5.9 refaults had one name."""
    lines = table(text, " ")
    found = {}
    for name in _COUNTERS:
        value = whole(lines.get(name))
        if value is None and name == "workingset_refault_file":
            value = whole(lines.get("workingset_refault"))
        if value is not None and value >= 0:
            found[name] = value
    return found


def _rate(before: int | None, after: int | None, seconds: float) -> float | None:
    # a counter that went back was reset; that says nothing
    if before is None or after is None or after < before:
        return None
    return (after - before) / seconds


def _other_cores(before: Counters, after: Counters, seconds: float) -> float | None:
    """Return how many cores programs outside of the run kept busy."""
    if before.busy_cpu_s is None or after.busy_cpu_s is None:
        return None
    if before.own_cpu_s.keys() - after.own_cpu_s.keys():
        return None  # a program of the run ended, and took its last CPU seconds with it
    own = sum(
        max(0.0, used - before.own_cpu_s.get(pid, 0.0)) for pid, used in after.own_cpu_s.items()
    )
    return max(0.0, (after.busy_cpu_s - before.busy_cpu_s - own) / seconds)


def _read_vmstat() -> str:
    try:
        return Path(_VMSTAT).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _in_bytes(pages: int | None, other: int | None = None) -> int | None:
    # pages are 4, 16 or 64 KiB
    return other if pages is None else pages * mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class _Swap:
    """What psutil says; in and out are totals since the system started."""

    used_bytes: int | None = None
    in_bytes: int | None = None
    out_bytes: int | None = None


def _swap() -> _Swap:
    try:
        swap = psutil.swap_memory()
    except (RuntimeError, OSError):
        return _Swap()
    if sys.platform == "darwin":
        return _Swap(swap.used, swap.sin, swap.sout)
    return _Swap(swap.used)  # Windows: in and out are always 0, which is no reading


@dataclass(frozen=True, slots=True)
class _Use:
    """What one process of the run uses; n_bytes None = not told, or it is our own process."""

    cpu_s: float
    n_bytes: int | None


def _own(pids: frozenset[int]) -> dict[int, _Use]:
    """Return what the run's programs and their children use, by process."""
    found: dict[int, _Use] = {}
    for pid in pids:
        try:
            root = psutil.Process(pid)
            family = [root, *root.children(recursive=True)]
        except psutil.Error:
            continue  # it has just ended
        for process in family:
            try:
                times = process.cpu_times()
                n_bytes = None if process.pid == os.getpid() else own_bytes(process)
            except psutil.Error:
                continue
            found[process.pid] = _Use(times.user + times.system, n_bytes)
    return found


def own_bytes(process: psutil.Process) -> int | None:
    """Return a process's own memory, in the swap too; the mapped model file does not count.

    None where the system does not tell them apart: macOS counts mapped files as resident.
    """
    if sys.platform == "win32":
        return int(process.memory_info().private)
    try:
        text = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    return parse_own_bytes(text)


def parse_own_bytes(text: str) -> int | None:
    """Return RssAnon and VmSwap of /proc/PID/status, None when they are not there."""
    lines = table(text, ":")
    sizes = [lines.get(name, "").split() for name in ("RssAnon", "VmSwap")]
    kib = [whole(words[0]) if len(words) == 2 and words[1] == "kB" else None for words in sizes]
    return None if kib[0] is None else (kib[0] + (kib[1] or 0)) * 1024
