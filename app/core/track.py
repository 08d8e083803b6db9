"""What a computer did while a model was measured: values over time, and the limits that bit."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LimitEvent:
    """A limit that began to bite; at_s counts from the first reading, or is the readings' clock."""

    at_s: float
    subject: str  # what it is about: "swap", "memory", "gpu.0.clock", ...
    text: str
    is_normal: bool = False  # seen in good runs too, such as a power limit at full load


@dataclass(frozen=True, slots=True)
class Series:
    """One value at each step; None = not told at that moment."""

    subject: str  # "cpu.share", "gpu.0.clock_mhz", "process.0.resident_bytes", ...
    values: tuple[float | None, ...]
    name: str = ""  # of the card or process


@dataclass(frozen=True, slots=True)
class Track:
    """The readings of one measurement, by subject; the first is at 0 s."""

    times_s: tuple[float, ...]
    series: tuple[Series, ...]
    events: tuple[LimitEvent, ...] = ()
    source: str = ""
