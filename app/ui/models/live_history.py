"""The live charts as values: the readings of the last minute, and what a strip shows."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from app.core.live import LiveReading

SPAN_S = 60.0
_GAP_S = 2.0  # readings come twice a second; a longer pause is shown as one


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
    def readings(self) -> tuple[LiveReading, ...]:
        """Return what is kept, oldest first."""
        return tuple(self._readings)

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
