"""The live charts as values: what was read in the last minute, and how each strip shows it."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from app.core import units
from app.probes.live import LiveReading

SPAN_S = 60.0
_GAP_S = 2.0  # readings come twice a second; a longer pause is shown as one
_FACTORS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_LEAST_RATE = float(units.MIB)  # bytes per s: without traffic the axis must not show noise


@dataclass(frozen=True, slots=True)
class Trace:
    """One line of a strip: (seconds before now, value), NaN where nothing was measured."""

    name: str
    role: str  # a colour of theme.Tokens
    points: tuple[tuple[float, float], ...]
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """What a strip chart shows; top is the value at its upper edge."""

    title: str
    now: str
    top: float
    top_text: str
    traces: tuple[Trace, ...]
    limit: float | None = None
    limit_text: str = ""

    @property
    def sentence(self) -> str:
        """Return what is read aloud."""
        return f"{self.title}: {self.now}"


class History:
    """Keeps the readings of the last minute; a pause stays visible as a gap."""

    def __init__(self) -> None:
        self._readings: deque[LiveReading] = deque()

    def add(self, reading: LiveReading) -> None:
        """Take the next reading and let go of what is too old to be drawn."""
        self._readings.append(reading)
        while self._readings[0].at_s < reading.at_s - SPAN_S - _GAP_S:
            self._readings.popleft()

    @property
    def last(self) -> LiveReading | None:
        """Return the newest reading."""
        return self._readings[-1] if self._readings else None

    def points(
        self, value: Callable[[LiveReading], float | None]
    ) -> tuple[tuple[float, float], ...]:
        """Return (seconds before the newest reading, value), oldest first."""
        found: list[tuple[float, float]] = []
        before: LiveReading | None = None
        for reading in self._readings:
            age = self._readings[-1].at_s - reading.at_s
            if before is not None and reading.at_s - before.at_s > _GAP_S:
                found.append((age, math.nan))
            known = value(reading)
            found.append((age, math.nan if known is None else float(known)))
            before = reading
        return tuple(found)


def strips(history: History, memory_limit: int | None = None) -> tuple[Strip, Strip, Strip]:
    """Return CPU, memory and swap; memory_limit is a container's, in bytes, None = none."""
    return _cpu(history), _memory(history, memory_limit), _swap(history)


def _cpu(history: History) -> Strip:
    last = history.last
    trace = Trace("CPU", "accent", history.points(lambda reading: reading.cpu_share))
    return Strip(
        "CPU in use", units.percent(last.cpu_share if last else None, 0), 1.0, "100 %", (trace,)
    )


def _memory(history: History, limit: int | None) -> Strip:
    last = history.last
    total = last.memory_total_bytes if last else None
    trace = Trace("Memory", "accent", history.points(lambda reading: reading.memory_used_bytes))
    is_limited = limit is not None and total is not None and limit < total
    return Strip(
        "Memory in use",
        units.gib(last.memory_used_bytes if last else None),
        float(total or 1),
        units.gib(total) if total else "",
        (trace,),
        float(limit) if is_limited and limit is not None else None,
        f"limit {units.gib(limit)}" if is_limited else "",
    )


def _swap(history: History) -> Strip:
    last = history.last
    traces = (
        Trace("in", "accent", history.points(lambda reading: reading.swap_in_bytes_s)),
        Trace("out", "host", history.points(lambda reading: reading.swap_out_bytes_s), True),
    )
    known = [value for trace in traces for _, value in trace.points if not math.isnan(value)]
    top = _ceiling(max([*known, _LEAST_RATE]))
    into, out = (last.swap_in_bytes_s, last.swap_out_bytes_s) if last else (None, None)
    now = units.UNKNOWN
    if into is not None and out is not None:
        now = f"in {units.size(into)}/s, out {units.size(out)}/s"
    return Strip("Swap traffic", now, top, f"{units.size(top)}/s", traces)


def _ceiling(value: float) -> float:
    """Return the next round figure in MiB or GiB, so that the axis is easy to read."""
    step = float(units.MIB)
    while step * _FACTORS[-1] < value:
        step *= units.KIB
    return next(step * factor for factor in _FACTORS if step * factor >= value)
