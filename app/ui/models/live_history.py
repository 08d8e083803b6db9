"""The live charts as values: the readings of the last minute, and what a strip shows."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from app.core import units
from app.core.live import LiveReading
from app.core.live_events import EventFinder
from app.core.live_track import readings_of
from app.core.track import LimitEvent, Track

SPAN_S = 60.0
_GAP_S = 2.0  # readings come twice a second; a longer pause is shown as one
_NEAR_S = 1.0  # of a mark, for the pointer
_MOST_EVENTS = 100
_LEAST_SPAN_S = 1.0


@dataclass(frozen=True, slots=True)
class Trace:
    """One line of a strip: (seconds before now, value), NaN where nothing was measured."""

    name: str
    role: str  # a colour of theme.Tokens
    points: tuple[tuple[float, float], ...]
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A limit that began to bite, so many seconds before now."""

    age_s: float
    text: str
    is_normal: bool = False


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
    marks: tuple[Mark, ...] = ()
    words: Callable[[float], str] = str  # a value with its unit
    source: str = ""
    span_s: float = SPAN_S
    is_live: bool = True  # else the time counts from the start of what was recorded

    @property
    def sentence(self) -> str:
        """Return what is read aloud: the value, its limit, and when limits were reached."""
        parts = [self.now, self.limit_text]
        parts += [f"{self.when(mark.age_s)}: {mark.text}" for mark in reversed(self.marks)]
        return ". ".join(part for part in parts if part)

    def when(self, age_s: float) -> str:
        """Return a moment in words: before now, or after the start of what was recorded."""
        if self.is_live:
            return "now" if age_s < 0.5 else f"{age_s:.0f} s ago"
        return f"at {max(0.0, self.span_s - age_s):.0f} s"

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Return the marks of the time axis: (seconds before the end, text)."""
        ages = tuple(self.span_s * part for part in (1.0, 2 / 3, 1 / 3, 0.0))
        if not self.is_live:
            return tuple((age, f"{self.span_s - age:.0f} s") for age in ages)
        first, *middle, last = ages
        between = tuple((age, f"{age:.0f} s") for age in middle)
        return ((first, f"{first:.0f} s ago"), *between, (last, "now"))

    def at(self, age_s: float) -> str:
        """Return what was at a moment: the values, limits that were reached, the source."""
        lines = []
        for trace in self.traces:
            known = [(abs(age - age_s), v) for age, v in trace.points if not math.isnan(v)]
            distance, value = min(known, default=(math.inf, 0.0))
            if distance <= _NEAR_S:
                name = f"{trace.name}: " if len(self.traces) > 1 else ""
                lines.append(f"{name}{self.words(value)}")
        values = ", ".join(lines) or units.UNKNOWN
        found = [f"{self.title} {self.when(age_s)}: {values}"]
        found += [mark.text for mark in self.marks if abs(mark.age_s - age_s) <= 2 * _NEAR_S]
        if self.source:
            found.append(f"Source: {self.source}")
        return "\n".join(found)


@dataclass(frozen=True, slots=True)
class Group:
    """Strips that belong together, under a heading; detail is for the pointer."""

    title: str
    strips: tuple[Strip, ...]
    detail: str = ""


class History:
    """Keeps the readings of the last minute, and events for longer; a pause stays a gap."""

    def __init__(
        self, span_s: float = SPAN_S, *, is_live: bool = True, gap_s: float = _GAP_S
    ) -> None:
        self._readings: deque[LiveReading] = deque()
        self._finder = EventFinder()
        self._events: deque[LimitEvent] = deque(maxlen=_MOST_EVENTS)
        self.span_s = span_s
        self.is_live = is_live
        self._gap_s = gap_s

    @classmethod
    def of_track(cls, track: Track) -> "History":
        """Return what was recorded, with its own events: a long one was thinned out."""
        readings = readings_of(track)
        span = max(_LEAST_SPAN_S, *track.times_s) if len(readings) > 1 else _LEAST_SPAN_S
        steps = [after - before for before, after in pairwise(track.times_s)]
        history = cls(span, is_live=False, gap_s=_GAP_S + 2 * min(steps, default=0.0))
        history._readings.extend(readings)
        history._events.extend(track.events)
        return history

    def add(self, reading: LiveReading) -> tuple[LimitEvent, ...]:
        """Take the next reading; return the limits that begin to bite with it."""
        self._readings.append(reading)
        while self._readings[0].at_s < reading.at_s - self.span_s - self._gap_s:
            self._readings.popleft()
        found = self._finder.add(reading)
        self._events.extend(found)
        return found

    @property
    def readings(self) -> tuple[LiveReading, ...]:
        """Return what is kept, oldest first."""
        return tuple(self._readings)

    @property
    def last(self) -> LiveReading | None:
        """Return the newest reading."""
        return self._readings[-1] if self._readings else None

    @property
    def events(self) -> tuple[LimitEvent, ...]:
        """Return the limits that were reached, oldest first."""
        return tuple(self._events)

    def marks(self, *subjects: str) -> tuple[Mark, ...]:
        """Return the events of some subjects that are still on the chart, oldest first."""
        now = self._readings[-1].at_s if self._readings else 0.0
        return tuple(
            Mark(now - event.at_s, event.text, event.is_normal)
            for event in self._events
            if event.subject in subjects and now - event.at_s <= self.span_s
        )

    def points(
        self, value: Callable[[LiveReading], float | None]
    ) -> tuple[tuple[float, float], ...]:
        """Return (seconds before the newest reading, value), oldest first."""
        found: list[tuple[float, float]] = []
        before: LiveReading | None = None
        for reading in self._readings:
            age = self._readings[-1].at_s - reading.at_s
            if before is not None and reading.at_s - before.at_s > self._gap_s:
                found.append((age, math.nan))
            known = value(reading)
            found.append((age, math.nan if known is None else float(known)))
            before = reading
        return tuple(found)


def is_known(points: tuple[tuple[float, float], ...]) -> bool:
    """Tell whether a line has a value at all."""
    return any(not math.isnan(value) for _, value in points)
