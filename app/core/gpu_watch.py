"""Sums up what a GPU did while a model was measured, for the rules: the card that did the work."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

from app.core import clock_reasons
from app.core.evidence import GpuWatch
from app.core.live import GpuReading, LiveReading
from app.core.reading import lowest

# a card that waits for layers on the host is busy for a small part of the time only
_WORKS_FROM = 0.1
# below it a driver lowers clocks by itself, so a fall says nothing
_CLOCKS_FROM = 0.5


def gpu_watch(readings: tuple[LiveReading, ...], source: str = "") -> GpuWatch | None:
    """Return what the card did that worked most, None when no card told anything.

    A card that heat or its power supply held down comes first, however much it worked.
    """
    count = max((len(reading.gpus) for reading in readings), default=0)
    found = [_card(readings, index, source) for index in range(count)]
    if not found:
        return None
    spilled = [r.spilled_bytes for r in readings if r.spilled_bytes is not None]
    growth = max(spilled) - spilled[0] if len(spilled) > 1 else None
    best = max(found, key=lambda watch: (bool(watch.reasons), watch.use_mean or 0.0))
    return replace(best, shared_growth_bytes=growth)


def _card(readings: tuple[LiveReading, ...], index: int, source: str) -> GpuWatch:
    seen = tuple(reading.gpus[index] for reading in readings if index < len(reading.gpus))
    works = tuple(gpu for gpu in seen if gpu.busy is not None and gpu.busy >= _WORKS_FROM)
    loaded = tuple(gpu for gpu in works if gpu.busy is not None and gpu.busy >= _CLOCKS_FROM)
    masks = tuple(gpu.clock_reasons for gpu in works if gpu.clock_reasons is not None)
    return GpuWatch(
        n_samples=len(seen),
        source=source,
        use_mean=_mean(gpu.busy for gpu in seen),
        memory_use_mean=_mean(gpu.memory_busy for gpu in seen),
        free_min_bytes=lowest(_free(gpu) for gpu in seen),
        n_thermal=sum(1 for mask in masks if mask & clock_reasons.HEAT) if masks else None,
        memory_clock_min=least_of_before(tuple(gpu.memory_clock_mhz for gpu in loaded)),
        is_capped=any(mask & clock_reasons.POWER_LIMIT for mask in masks) if masks else None,
        name=seen[-1].name,
        index=index,
        n_busy=len(works) if any(gpu.busy is not None for gpu in seen) else None,
        clock_min=least_of_before(tuple(gpu.clock_mhz for gpu in loaded)),
        reasons=_reasons(works),
        temperature_max=_most(seen, lambda gpu: gpu.temperature),
        temperature_limit=_last(seen, lambda gpu: gpu.temperature_limit),
        power_max_w=_most(seen, lambda gpu: gpu.power_w),
        power_limit_w=_last(seen, lambda gpu: gpu.power_limit_w),
        power_default_w=_last(seen, lambda gpu: gpu.power_default_w),
        link_max_bytes_s=_most(seen, lambda gpu: gpu.link_bytes_s),
        link_width=lowest(gpu.link_width for gpu in works),
        link_width_max=seen[-1].link_width_max,
        link_generation=max(
            (gpu.link_generation for gpu in works if gpu.link_generation is not None), default=None
        ),
        link_generation_max=seen[-1].link_generation_max,
    )


def least_of_before(clocks: tuple[int | None, ...]) -> float | None:
    """Return the deepest fall of a clock, as a share of the highest before it; 1 = it never fell.

    It counts from two samples in a row: between two tests a card is idle for a moment.
    """
    known = [clock for clock in clocks if clock]
    if len(known) < 2:
        return None
    highest, least = known[0], 1.0
    for before, now in pairwise(known):
        highest = max(highest, before)
        least = min(least, max(before, now) / highest)
    return least


def _reasons(works: tuple[GpuReading, ...]) -> tuple[str, ...]:
    """Return the faults that held clocks down in any ten samples in a row."""
    samples = tuple((gpu.clock_reasons or 0, round(100 * (gpu.busy or 0.0))) for gpu in works)
    found: list[str] = []
    for end in range(1, len(samples) + 1):
        window = samples[max(0, end - clock_reasons.WINDOW) : end]
        found += clock_reasons.faults(window, busy_from=round(100 * _WORKS_FROM))
    return tuple(dict.fromkeys(found))


def _free(gpu: GpuReading) -> int | None:
    if gpu.memory_total_bytes is None or gpu.memory_used_bytes is None:
        return None
    return gpu.memory_total_bytes - gpu.memory_used_bytes


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _most(
    seen: tuple[GpuReading, ...], value: Callable[[GpuReading], float | None]
) -> float | None:
    return max((v for gpu in seen if (v := value(gpu)) is not None), default=None)


def _last(
    seen: tuple[GpuReading, ...], value: Callable[[GpuReading], float | None]
) -> float | None:
    return next((v for gpu in reversed(seen) if (v := value(gpu)) is not None), None)
