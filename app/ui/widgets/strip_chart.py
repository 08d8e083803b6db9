"""A strip chart: the last minute of a few values, drawn cheaply; gaps stay gaps."""

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui import theme
from app.ui.models.live_history import SPAN_S, Strip, Trace

_HEAD, _FOOT, _PLOT = 24, 20, 76
_MARKS_S = (60, 40, 20, 0)


class StripChart(QWidget):
    """Draws one strip; it keeps nothing but what it was shown last."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strip: Strip | None = None
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_strip(self, strip: Strip) -> None:
        """Show newer values."""
        self._strip = strip
        self.setAccessibleName(strip.title)
        self.setAccessibleDescription(strip.now)
        self.update()

    @property
    def strip(self) -> Strip | None:
        """Return what is shown."""
        return self._strip

    def sizeHint(self) -> QSize:
        return QSize(240, _HEAD + _PLOT + _FOOT)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, _HEAD + _PLOT + _FOOT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the heading, the axes in seconds before now, and the lines."""
        if self._strip is None:
            return
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot = QRectF(0, _HEAD, self.width(), _PLOT)
        self._draw_head(painter, self._strip, tokens)
        self._draw_axes(painter, plot, self._strip, tokens)
        painter.save()
        painter.setClipRect(plot.adjusted(0, -1, 0, 1))
        for trace in self._strip.traces:
            _draw_trace(painter, plot, trace, self._strip.top, QColor(getattr(tokens, trace.role)))
        painter.restore()
        painter.end()

    def _draw_head(self, painter: QPainter, strip: Strip, tokens: theme.Tokens) -> None:
        head = QRectF(0, 0, self.width(), _HEAD - 6)
        painter.setPen(QColor(tokens.dim))
        painter.drawText(
            head, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, strip.title
        )
        painter.setFont(theme.number_font(self.font(), 13))
        painter.setPen(QColor(tokens.text))
        painter.drawText(
            head, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, strip.now
        )
        painter.setFont(self.font())

    def _draw_axes(
        self, painter: QPainter, plot: QRectF, strip: Strip, tokens: theme.Tokens
    ) -> None:
        small = QFont(self.font())
        small.setPixelSize(11)
        painter.setFont(small)
        painter.fillRect(plot, QColor(tokens.window))
        painter.setPen(QPen(QColor(tokens.line), 1))
        for part in (0.0, 0.5, 1.0):
            y = round(plot.top() + part * plot.height()) + 0.5
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(QColor(tokens.dim))
        inside = plot.adjusted(6, 4, -6, -4)
        painter.drawText(
            inside, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, strip.top_text
        )
        self._draw_names(painter, inside, strip, tokens)
        painter.setPen(QColor(tokens.dim))
        foot = QRectF(0, plot.bottom() + 4, self.width(), _FOOT - 4)
        for seconds in _MARKS_S:
            x = _x(plot, seconds)
            text = (
                "now"
                if seconds == 0
                else f"{seconds} s ago"
                if seconds == SPAN_S
                else f"{seconds} s"
            )
            width = painter.fontMetrics().horizontalAdvance(text)
            left = min(max(0.0, x - width / 2), self.width() - width)
            painter.drawText(QPointF(left, foot.top() + painter.fontMetrics().ascent()), text)
        if strip.limit is not None:
            y = _y(plot, strip.limit, strip.top)
            painter.setPen(QPen(QColor(tokens.error), 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.drawText(QPointF(plot.left() + 6, y - 3), strip.limit_text)

    def _draw_names(
        self, painter: QPainter, inside: QRectF, strip: Strip, tokens: theme.Tokens
    ) -> None:
        """Name the lines where there are several; the second is dashed as well as coloured."""
        if len(strip.traces) < 2:
            return
        x = inside.right()
        for trace in reversed(strip.traces):
            width = painter.fontMetrics().horizontalAdvance(trace.name)
            painter.setPen(QColor(tokens.dim))
            painter.drawText(
                QRectF(x - width, inside.top(), width, 14), Qt.AlignmentFlag.AlignCenter, trace.name
            )
            painter.setPen(_pen(trace, QColor(getattr(tokens, trace.role))))
            painter.drawLine(
                QPointF(x - width - 24, inside.top() + 7), QPointF(x - width - 5, inside.top() + 7)
            )
            x -= width + 36


def runs(trace: Trace) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Return the pieces of a line between its gaps; a single point is a piece too."""
    pieces: list[tuple[tuple[float, float], ...]] = []
    piece: list[tuple[float, float]] = []
    for age, value in trace.points:
        if not math.isnan(value):
            piece.append((age, value))
        elif piece:
            pieces.append(tuple(piece))
            piece = []
    if piece:
        pieces.append(tuple(piece))
    return tuple(pieces)


def _draw_trace(painter: QPainter, plot: QRectF, trace: Trace, top: float, colour: QColor) -> None:
    for piece in runs(trace):
        line = QPolygonF([QPointF(_x(plot, age), _y(plot, value, top)) for age, value in piece])
        if not trace.is_dashed and len(piece) > 1:
            fill = QColor(colour)
            fill.setAlpha(40)
            area = QPolygonF(line)
            area.append(QPointF(line.last().x(), plot.bottom()))
            area.append(QPointF(line.first().x(), plot.bottom()))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawPolygon(area)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(_pen(trace, colour))
        if len(piece) > 1:
            painter.drawPolyline(line)
        else:
            painter.drawPoint(line.first())


def _pen(trace: Trace, colour: QColor) -> QPen:
    style = Qt.PenStyle.DashLine if trace.is_dashed else Qt.PenStyle.SolidLine
    return QPen(colour, 2, style)


def _x(plot: QRectF, age_s: float) -> float:
    return plot.right() - age_s / SPAN_S * plot.width()


def _y(plot: QRectF, value: float, top: float) -> float:
    return plot.bottom() - min(1.0, max(0.0, value / top)) * (plot.height() - 2)
