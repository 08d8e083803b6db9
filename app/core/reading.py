"""A figure with its source, or the reason why it is missing."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

T = TypeVar("T")


class State(Enum):
    """Why a fact has a value, or has none; a missing fact is never shown as 0."""

    KNOWN = "known"
    ABSENT = "absent"  # the machine has none
    UNSUPPORTED = "unsupported"  # the device does not report it
    DENIED = "denied"  # needs rights
    MISSING = "missing"  # tool or library not there
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """A value with unit and source, or None with the state and the reason."""

    value: T | None
    unit: str
    source: str
    state: State = State.KNOWN
    reason: str = ""

    @classmethod
    def missing(cls, state: State, *, source: str, reason: str, unit: str = "") -> "Reading[T]":
        """Make a reading without a value."""
        return cls(None, unit, source, state, reason)


class Kind(Enum):
    """How a figure came about."""

    MEASURED = "measured"
    CALCULATED = "calculated"
    TABLE = "table"
    TYPED = "typed"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured or estimated figure with its range; low == high == value when it is exact."""

    value: float
    low: float
    high: float
    source: str
    kind: Kind

    @classmethod
    def typed(cls, value: float, source: str = "typed in") -> "Estimate":
        """Make a figure that the user gave; its range is the value itself."""
        return cls(value, value, value, source, Kind.TYPED)

    def overlaps(self, other: "Estimate") -> bool:
        """Tell whether the two ranges share a point."""
        return self.low <= other.high and other.low <= self.high


def lowest(values: Iterable[int | None]) -> int | None:
    """Return the smallest of the values that are known, None when none is."""
    known = [value for value in values if value is not None]
    return min(known) if known else None
