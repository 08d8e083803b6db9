"""What the live charts show: this computer at this moment, read within some milliseconds."""

from collections.abc import Callable
from typing import Protocol

import psutil

from app.core.host import ProcessInfo
from app.core.live import GpuReading, LiveReading
from app.probes.host import RealHost
from app.probes.live_amd import AmdMeter
from app.probes.live_cpu import ClassMeter
from app.probes.live_heat import HeatMeter, HeatReading
from app.probes.live_limit import LimitMeter, LimitReading
from app.probes.live_nvidia import NvidiaMeter
from app.probes.live_processes import ProcessMeter
from app.probes.live_windows import WindowsMeter
from app.probes.sampler import SOURCE, Counters, Meter, SystemMeter


class GpuMeter(Protocol):
    """Where readings of GPUs come from."""

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of each GPU."""


class LiveMeter:
    """Takes readings one after the other; use it from one thread at a time."""

    def __init__(
        self,
        meter: Meter | None = None,
        gpus: tuple[GpuMeter, ...] | None = None,
        *,
        name: Callable[[ProcessInfo], str] = lambda _process: "",
        own: frozenset[int] = frozenset(),
    ) -> None:
        """Read this computer; tests give their own meters.

        name returns a runtime's title for its processes; own are processes of a run to show too.
        """
        host = RealHost()
        self._meter = meter or SystemMeter()
        self._cpus = psutil.cpu_count() or 0
        self._before: Counters | None = None
        self._limit_before: LimitReading | None = None
        self._kinds = ClassMeter(host)
        self._limit = LimitMeter(host)
        self._heat = HeatMeter(host)
        self._heat_before = HeatReading()
        self._nvidia = NvidiaMeter()
        self._windows = WindowsMeter(host)
        self._gpus = (self._nvidia, AmdMeter(host), self._windows) if gpus is None else gpus
        self._processes = ProcessMeter(name, own)

    def read(self) -> LiveReading:
        """Return this moment's reading."""
        now, before = self._meter.read(frozenset()), self._before
        self._before = now
        memory = psutil.virtual_memory()
        if before is None:
            before = Counters(now.at_s)
        seconds = now.at_s - before.at_s
        limit, limit_before = self._limit.read(), self._limit_before
        self._limit_before = limit
        heat, heat_before = self._heat.read(), self._heat_before
        self._heat_before = heat
        gpus = tuple(reading for meter in self._gpus for reading in meter.read())
        held = self._windows.process_memory()
        processes = self._processes.read({**held.on_card, **self._nvidia.process_bytes()})
        spilled = [held.spilled[p.pid] for p in processes if p.pid in held.spilled]
        return LiveReading(
            at_s=now.at_s,
            cpu_share=_share(before, now, seconds * self._cpus),
            memory_used_bytes=memory.total - memory.available,
            memory_total_bytes=memory.total,
            swap_in_bytes_s=_rate(before.swap_in_bytes, now.swap_in_bytes, seconds),
            swap_out_bytes_s=_rate(before.swap_out_bytes, now.swap_out_bytes, seconds),
            refault_bytes_s=_rate(before.refault_bytes, now.refault_bytes, seconds),
            fault_bytes_s=_rate(before.fault_bytes, now.fault_bytes, seconds),
            cpu_kinds=self._kinds.read(),
            gpus=gpus,
            processes=processes,
            limit_bytes=limit.limit_bytes if limit else None,
            limit_used_bytes=limit.used_bytes if limit else None,
            limit_hits=_hits(limit_before.hits, limit.hits) if limit and limit_before else None,
            spilled_bytes=sum(spilled) if spilled else None,
            cpu_mhz=heat.clock_mhz,
            cpu_temperature=heat.temperature,
            cpu_throttles=_hits(heat_before.throttles, heat.throttles),
        )

    def close(self) -> None:
        """Let go of the drivers' libraries, so that an idle card may sleep."""
        self._nvidia.close()
        self._windows.close()

    def source(self) -> str:
        """Name where the readings come from."""
        return ", ".join(name for name in (SOURCE, self._nvidia.source()) if name)


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


def _hits(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None else max(0, now - before)
