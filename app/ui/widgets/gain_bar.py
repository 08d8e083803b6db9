"""A bar of one predicted gain: now, what the change should bring, and the range of it."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui import theme
from app.ui.models.ranking_model import GainBar

_HEIGHT = 22


class GainBarWidget(QWidget):
    """Draws one bar; all bars of a card share their scale, `most`."""

    def __init__(self, bar: GainBar, most: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = bar
        self._most = max(most, 1.0)
        self.setObjectName("gainBar")
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(bar.title)
        self.setAccessibleDescription(bar.figure)
        self.setToolTip(bar.source or bar.figure)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw now, the gain and its range."""
        del event
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        middle = self.height() / 2
        painter.setBrush(QColor(tokens.raised))
        painter.drawRoundedRect(QRectF(0, middle - 8, self.width(), 16), 4, 4)
        painter.setBrush(QColor(tokens.other))
        now = self._x(1.0)
        painter.drawRoundedRect(QRectF(0, middle - 8, now, 16), 4, 4)
        if self._bar.value is not None:
            painter.setBrush(QColor(tokens.good))
            painter.drawRect(QRectF(now, middle - 8, self._x(self._bar.value) - now, 16))
            pen = QPen(QColor(tokens.text))
            pen.setWidth(2)
            painter.setPen(pen)
            low, high = self._x(self._bar.low), self._x(self._bar.high)
            painter.drawLine(int(low), int(middle), int(high), int(middle))
            for end in (low, high):
                painter.drawLine(int(end), int(middle) - 5, int(end), int(middle) + 5)
        painter.end()

    def _x(self, value: float) -> float:
        return max(0.0, min(1.0, value / self._most)) * (self.width() - 2)
