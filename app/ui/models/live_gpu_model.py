"""The live strips of the GPUs: use, memory, heat and power with their limits, and events."""

import math
from collections.abc import Callable

from app.core import clock_reasons, units
from app.core.live import GpuReading, LiveReading
from app.ui.models.live_history import History, Strip, Trace

_MOST_GPUS = 2  # more would not fit on a screen; the others are in the facts
_HOT = 110.0  # °C at the upper edge
_EDGE = 1.25  # of a limit, so that its line and its text can be seen


def strips(history: History) -> tuple[Strip, ...]:
    """Return three strips for each GPU that tells anything."""
    last = history.last
    found: list[Strip] = []
    for index, gpu in enumerate(last.gpus[:_MOST_GPUS] if last else ()):
        prefix = f"GPU {index}"
        found += [_use(history, index, gpu, prefix), _memory(history, index, gpu, prefix)]
        found.append(_heat(history, index, gpu, prefix))
    return tuple(found)


def event(history: History) -> str:
    """Say what holds a GPU's clock down while it works, "" when nothing does."""
    last = history.last
    for index, gpu in enumerate(last.gpus[:_MOST_GPUS] if last else ()):
        samples = tuple(
            (reading.gpus[index].clock_reasons or 0, _percent(reading.gpus[index].busy))
            for reading in history.readings
            if index < len(reading.gpus)
        )
        faults = clock_reasons.faults(samples)
        if faults:
            clock = f" ({gpu.clock_mhz:,} MHz)" if gpu.clock_mhz is not None else ""
            return f"GPU {index}: its clock is held down{clock}: {', '.join(faults)}."
    return ""


def _use(history: History, index: int, gpu: GpuReading, prefix: str) -> Strip:
    now = units.percent(gpu.busy, 0)
    if gpu.clock_mhz is not None:
        now += f", {gpu.clock_mhz:,} MHz"
    trace = Trace("use", "accent", history.points(_of(index, lambda g: g.busy)))
    return Strip(f"{prefix} in use", now, 1.0, "100 %", (trace,))


def _memory(history: History, index: int, gpu: GpuReading, prefix: str) -> Strip:
    total = gpu.memory_total_bytes
    now = units.gib(gpu.memory_used_bytes)
    if gpu.link_bytes_s is not None:
        now += f", link {units.bandwidth(gpu.link_bytes_s)}"
    trace = Trace("memory", "accent", history.points(_of(index, lambda g: g.memory_used_bytes)))
    return Strip(
        f"{prefix} memory",
        now,
        float(total or 1) * _EDGE,
        "",
        (trace,),
        float(total) if total else None,
        units.gib(total) if total else "",
    )


def _heat(history: History, index: int, gpu: GpuReading, prefix: str) -> Strip:
    """Show power against its limit; heat alone where the card tells no power."""
    degrees = f"{gpu.temperature:.0f} °C" if gpu.temperature is not None else ""
    limit = gpu.power_limit_w
    if gpu.power_w is not None and limit:
        trace = Trace("power", "accent", history.points(_of(index, lambda g: g.power_w)))
        now = ", ".join(part for part in (f"{gpu.power_w:.0f} W", degrees) if part)
        text = f"limit {limit:.0f} W"
        return Strip(f"{prefix} power", now, limit * _EDGE, "", (trace,), limit, text)
    trace = Trace("heat", "host", history.points(_of(index, lambda g: g.temperature)))
    return Strip(f"{prefix} heat", degrees or units.UNKNOWN, _HOT, f"{_HOT:.0f} °C", (trace,))


def _of(
    index: int, value: Callable[[GpuReading], float | None]
) -> Callable[[LiveReading], float | None]:
    def read(reading: LiveReading) -> float | None:
        return value(reading.gpus[index]) if index < len(reading.gpus) else math.nan

    return read


def _percent(share: float | None) -> int | None:
    return None if share is None else round(100 * share)
