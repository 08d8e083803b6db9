"""A memory bar: named segments of bytes against a capacity, colour with hatch and words."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.ui import theme

_HEIGHT, _LEGEND, _GAP = 28, 20, 6


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a bar; share is of the bar's full width, text has the number and unit."""

    role: str  # a colour of theme.Tokens
    name: str
    text: str
    share: float
    source: str


@dataclass(frozen=True, slots=True)
class Bar:
    """What a bar shows; limit_share marks the capacity when the sum goes beyond it."""

    segments: tuple[Segment, ...]
    limit_share: float | None
    sentence: str  # read aloud


@dataclass(frozen=True, slots=True)
class NamedBar:
    """A memory bar with its headline; is_over says that the bytes do not fit."""

    title: str
    headline: str
    is_over: bool
    bar: Bar


class ByteBar(QWidget):
    """Draws one bar with its legend."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = Bar((), None, "")
        self.setAccessibleName(name)
        self.setMinimumHeight(_HEIGHT + _GAP + _LEGEND)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)

    def show_bar(self, bar: Bar) -> None:
        """Show other bytes."""
        self._bar = bar
        self.setAccessibleDescription(bar.sentence)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, _HEIGHT + _GAP + _LEGEND)

    def event(self, event: QEvent) -> bool:
        """Answer a tooltip with the segment's number and source."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._segment_at(event.pos().x())
            text = f"{found.name}: {found.text}\n{found.source}" if found else ""
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the segments, the limit and the legend."""
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(0, 0, self.width(), _HEIGHT)
        path = QPainterPath()
        path.addRoundedRect(frame, theme.BAR_RADIUS, theme.BAR_RADIUS)
        painter.setClipPath(path)
        painter.fillRect(frame, QColor(tokens.free))
        x = 0.0
        for segment in self._bar.segments:
            width = segment.share * self.width()
            self._draw(painter, QRectF(x, 0, max(width - 1, 0), _HEIGHT), segment, tokens)
            x += width
        painter.setClipping(False)
        if self._bar.limit_share is not None:
            at = self._bar.limit_share * self.width()
            painter.setPen(QPen(QColor(tokens.error), 3))
            painter.drawLine(QPointF(at, -2), QPointF(at, _HEIGHT + 2))
        self._draw_legend(painter, tokens)
        painter.end()

    def _draw(
        self, painter: QPainter, rect: QRectF, segment: Segment, tokens: theme.Tokens
    ) -> None:
        colour = getattr(tokens, segment.role)
        painter.fillRect(rect, QColor(colour))
        if segment.role == "host":
            painter.fillRect(rect, theme.hatch(colour, tokens.card)[1])
        metrics = painter.fontMetrics()
        label = f"{segment.name} {segment.text}"
        if segment.role != "host" and metrics.horizontalAdvance(label) + 12 < rect.width():
            dark = QColor(colour).lightness() > 140
            painter.setPen(QColor("#0d1117" if dark else "#ffffff"))
            painter.drawText(rect.adjusted(6, 0, -6, 0), Qt.AlignmentFlag.AlignVCenter, label)

    def _draw_legend(self, painter: QPainter, tokens: theme.Tokens) -> None:
        font = self.font()
        font.setPixelSize(11)
        painter.setFont(font)
        metrics = painter.fontMetrics()
        x, top = 0.0, _HEIGHT + _GAP
        for segment in self._bar.segments:
            swatch = QRectF(x, top + 5, 10, 10)
            painter.fillRect(swatch, QColor(getattr(tokens, segment.role)))
            if segment.role == "host":
                painter.fillRect(swatch, theme.hatch(tokens.host, tokens.card)[1])
            text = f"{segment.name} {segment.text}"
            painter.setPen(QColor(tokens.dim))
            painter.drawText(QPointF(x + 15, top + 14), text)
            x += 15 + metrics.horizontalAdvance(text) + 16

    def _segment_at(self, x: int) -> Segment | None:
        left = 0.0
        for segment in self._bar.segments:
            left += segment.share * self.width()
            if x <= left:
                return segment
        return None
