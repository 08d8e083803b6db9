"""A memory bar: named segments of bytes against a capacity, colour with hatch and words."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.ui import theme

_HEIGHT, _LEGEND, _GAP = 28, 20, 6
_SWATCH, _APART = 15, 16  # a legend's colour before its text, and the next entry after it


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
        self._make_room()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the legend as many rows as it takes at this width."""
        super().resizeEvent(event)
        self._make_room()

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
        room = rect.width()
        limit = self._bar.limit_share
        if limit is not None and rect.left() < limit * self.width() < rect.right():
            room = limit * self.width() - rect.left()  # the limit's line would cross the words
        if segment.role != "host" and metrics.horizontalAdvance(label) + 12 < room:
            dark = QColor(colour).lightness() > 140
            painter.setPen(QColor("#0d1117" if dark else "#ffffff"))
            painter.drawText(rect.adjusted(6, 0, -6, 0), Qt.AlignmentFlag.AlignVCenter, label)

    def _make_room(self) -> None:
        rows = 1 + max((row for _text, _x, row in self._legend()), default=0)
        self.setMinimumHeight(_HEIGHT + _GAP + rows * _LEGEND)

    def _small_font(self) -> QFont:
        font = self.font()
        font.setPixelSize(11)
        return font

    def _legend(self) -> list[tuple[str, float, int]]:
        """Return each entry's text, and its place: left side and row."""
        metrics = QFontMetricsF(self._small_font())
        found: list[tuple[str, float, int]] = []
        x, row = 0.0, 0
        for segment in self._bar.segments:
            text = f"{segment.name} {segment.text}"
            width = _SWATCH + metrics.horizontalAdvance(text)
            if x and x + width > self.width():
                x, row = 0.0, row + 1
            found.append((text, x, row))
            x += width + _APART
        return found

    def _draw_legend(self, painter: QPainter, tokens: theme.Tokens) -> None:
        painter.setFont(self._small_font())
        for segment, (text, x, row) in zip(self._bar.segments, self._legend(), strict=True):
            top = _HEIGHT + _GAP + row * _LEGEND
            swatch = QRectF(x, top + 5, 10, 10)
            painter.fillRect(swatch, QColor(getattr(tokens, segment.role)))
            if segment.role == "host":
                painter.fillRect(swatch, theme.hatch(tokens.host, tokens.card)[1])
            painter.setPen(QColor(tokens.dim))
            painter.drawText(QPointF(x + _SWATCH, top + 14), text)

    def _segment_at(self, x: int) -> Segment | None:
        left = 0.0
        for segment in self._bar.segments:
            left += segment.share * self.width()
            if x <= left:
                return segment
        return None
