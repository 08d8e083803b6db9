"""What the live charts show: CPU, memory and swap at this moment, read within a millisecond."""

from dataclasses import dataclass
from typing import Protocol

import psutil

from app.probes.host import RealHost
from app.probes.live_cpu import ClassMeter
from app.probes.live_gpu import AmdMeter, GpuReading, NvidiaMeter
from app.probes.sampler import Counters, Meter, SystemMeter


@dataclass(frozen=True, slots=True)
class LiveReading:
    """One moment; rates since the reading before it, None = not known (the first has no rates)."""

    at_s: float  # a clock that only counts up
    cpu_share: float | None = None  # of all CPUs, 0 to 1
    memory_used_bytes: int | None = None  # what programs cannot get: total less available
    memory_total_bytes: int | None = None
    swap_in_bytes_s: float | None = None
    swap_out_bytes_s: float | None = None
    refault_bytes_s: float | None = None  # of files that were thrown out and are read again
    cpu_kinds: tuple[tuple[str, float], ...] = ()  # share in use by kind of cores, of hybrid CPUs
    gpus: tuple[GpuReading, ...] = ()


class GpuMeter(Protocol):
    """Where readings of GPUs come from."""

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of each GPU."""


class LiveMeter:
    """Takes readings one after the other; use it from one thread at a time."""

    def __init__(
        self, meter: Meter | None = None, gpus: tuple[GpuMeter, ...] | None = None
    ) -> None:
        """Read this computer; tests give their own meters."""
        self._meter = meter or SystemMeter()
        self._cpus = psutil.cpu_count() or 0
        self._before: Counters | None = None
        host = RealHost()
        self._kinds = ClassMeter(host)
        self._gpus = (NvidiaMeter(), AmdMeter(host)) if gpus is None else gpus

    def read(self) -> LiveReading:
        """Return this moment's reading."""
        now, before = self._meter.read(frozenset()), self._before
        self._before = now
        memory = psutil.virtual_memory()
        if before is None:
            before = Counters(now.at_s)
        seconds = now.at_s - before.at_s
        return LiveReading(
            at_s=now.at_s,
            cpu_share=_share(before, now, seconds * self._cpus),
            memory_used_bytes=memory.total - memory.available,
            memory_total_bytes=memory.total,
            swap_in_bytes_s=_rate(before.swap_in_bytes, now.swap_in_bytes, seconds),
            swap_out_bytes_s=_rate(before.swap_out_bytes, now.swap_out_bytes, seconds),
            refault_bytes_s=_rate(before.refault_bytes, now.refault_bytes, seconds),
            cpu_kinds=self._kinds.read(),
            gpus=tuple(reading for meter in self._gpus for reading in meter.read()),
        )


def _share(before: Counters, now: Counters, cpu_seconds: float) -> float | None:
    if before.busy_cpu_s is None or now.busy_cpu_s is None or cpu_seconds <= 0:
        return None
    # the clock and the counters are not read in the same instant
    return min(1.0, max(0.0, (now.busy_cpu_s - before.busy_cpu_s) / cpu_seconds))


def _rate(before: int | None, now: int | None, seconds: float) -> float | None:
    # a counter that went back was reset; that says nothing
    if before is None or now is None or seconds <= 0 or now < before:
        return None
    return (now - before) / seconds
