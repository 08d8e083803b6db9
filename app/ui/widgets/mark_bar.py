"""A scroll bar that shows where the marked and the found lines of a log are."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from app.ui import theme
from app.ui.widgets import log_marks
from app.ui.widgets.log_marks import Mark

_TICK = 2.0  # pixels


class MarkBar(QScrollBar):
    """Draws a tick per marked row: evidence on the right half, found text on the left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._n_rows = 0
        self._marks: Mapping[int, Mark] = {}
        self._found: Sequence[int] = ()
        self._ticks: tuple[tuple[int, Mark | None], ...] = ()
        self._ticks_height = -1

    def show_marks(self, n_rows: int, marks: Mapping[int, Mark], found: Sequence[int]) -> None:
        """Show other marks, by row."""
        self._n_rows, self._marks, self._found = n_rows, marks, found
        self._ticks_height = -1
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar, then the ticks above it."""
        super().paintEvent(event)
        if self._ticks_height != self.height():
            self._ticks = self._place()
            self._ticks_height = self.height()
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        half = self.width() / 2
        for y, mark in self._ticks:
            left = half if mark is not None else 1.0
            ink = QColor(tokens.text) if mark is None else log_marks.colour(mark, tokens)
            painter.fillRect(QRectF(left, y, half - 1, _TICK), ink)
        painter.end()

    def _place(self) -> tuple[tuple[int, Mark | None], ...]:
        """Return one tick per pixel and half, the most urgent of those that fall together."""
        if not self._n_rows:
            return ()
        room = self.height() - _TICK
        urgent: dict[int, Mark] = {}
        for row, mark in self._marks.items():
            y = int(row * room / self._n_rows)
            before = urgent.get(y)
            if before is None or log_marks.ORDER.index(mark) < log_marks.ORDER.index(before):
                urgent[y] = mark
        found = {int(row * room / self._n_rows) for row in self._found}
        return (*((y, None) for y in found), *urgent.items())
