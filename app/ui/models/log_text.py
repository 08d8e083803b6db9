"""The text of a log as the view shows it: where lines come from, and how a line reads."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from app.core.log import LogEvent
from app.logs import lines as log_lines


class LineSource(Protocol):
    """Lines of a log, counted from 0 here; LineIndex is one."""

    @property
    def n_lines(self) -> int:
        """Return how many lines there are by now."""

    def lines(self, first: int, last: int) -> list[str]:
        """Return the lines first to last - 1, fewer at the end."""


class KeptLines:
    """The lines that the evidence kept of a log whose file is not on this computer."""

    def __init__(self, n_lines: int, events: Iterable[LogEvent]) -> None:
        self._n_lines = n_lines
        self._texts = {event.line - 1: event.text for event in events}

    @property
    def n_lines(self) -> int:
        """Return how many lines the log had."""
        return max(self._n_lines, max(self._texts, default=-1) + 1)

    @property
    def rows(self) -> tuple[int, ...]:
        """Return which lines were kept."""
        return tuple(sorted(self._texts))

    def lines(self, first: int, last: int) -> list[str]:
        """Return the lines; one that was not kept is empty."""
        return [self._texts.get(line, "") for line in range(first, min(last, self.n_lines))]


class Tone(Enum):
    """How loud a line says that it is, by the level in its prefix."""

    PLAIN = "plain"
    QUIET = "quiet"  # debug
    WARNING = "warning"
    ERROR = "error"


_TONES = {"D": Tone.QUIET, "W": Tone.WARNING, "E": Tone.ERROR}


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line as it is drawn; the first n_prefix characters are time and level."""

    text: str
    n_prefix: int
    tone: Tone


def shown(text: str) -> ShownLine:
    """Tell a line's prefix from its text."""
    text = text.expandtabs(8).rstrip()
    message, level = log_lines.strip(text)
    n_prefix = len(text) - len(message) if message and text.endswith(message) else 0
    return ShownLine(text, n_prefix, _TONES.get(level, Tone.PLAIN))
