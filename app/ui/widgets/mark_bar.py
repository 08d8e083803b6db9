"""A scroll bar that shows where the marked and the found lines of a log are."""

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from app.ui import theme
from app.ui.widgets import log_marks
from app.ui.widgets.log_marks import LineMarks, Mark

_TICK = 2  # pixels


class MarkBar(QScrollBar):
    """Draws ticks: evidence on the right half, found text on the left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._n_rows = 0
        self._rows: Sequence[int] | None = None
        self._marks = LineMarks()
        self._found: Sequence[int] = ()
        self._ticks: tuple[tuple[int, Mark | None], ...] = ()
        self._ticks_height = -1

    def show_marks(
        self, n_rows: int, rows: Sequence[int] | None, marks: LineMarks, found: Sequence[int]
    ) -> None:
        """Show other marks; rows are the lines shown, None for all, found is sorted."""
        self._n_rows, self._rows, self._marks, self._found = n_rows, rows, marks, found
        self._ticks_height = -1
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar, then the ticks above it."""
        super().paintEvent(event)
        if self._ticks_height != self.height():
            self._ticks = self.place()
            self._ticks_height = self.height()
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        half = self.width() / 2
        for y, mark in self._ticks:
            left = half if mark is not None else 1.0
            ink = QColor(tokens.text) if mark is None else log_marks.colour(mark, tokens)
            painter.fillRect(QRectF(left, y, half - 1, _TICK), ink)
        painter.end()

    def place(self) -> tuple[tuple[int, Mark | None], ...]:
        """Return the ticks from the top, of those that fall together the most urgent.

        It looks at each pixel, not at each mark: there may be a hundred thousand of these.
        """
        if not self._n_rows:
            return ()
        ticks: list[tuple[int, Mark | None]] = []
        n_steps = max(1, self.height() // _TICK)
        for step in range(n_steps):
            first, stop = self._line(step, n_steps), self._line(step + 1, n_steps)
            if _any(self._found, first, stop):
                ticks.append((step * _TICK, None))
            mark = next((m for m, lines in self._marks.by_mark if _any(lines, first, stop)), None)
            if mark is not None:
                ticks.append((step * _TICK, mark))
        return tuple(ticks)

    def _line(self, step: int, n_steps: int) -> int:
        """Return the first line, from 1, that is drawn at a step or below it."""
        row = -(-step * self._n_rows // n_steps)
        if self._rows is None:
            return row + 1
        return self._rows[row] if row < len(self._rows) else self._rows[-1] + 1


def _any(lines: Sequence[int], first: int, stop: int) -> bool:
    at = bisect_left(lines, first)
    return at < len(lines) and lines[at] < stop
