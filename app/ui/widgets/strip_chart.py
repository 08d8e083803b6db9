"""A strip chart: a few values over time with their limit, drawn cheaply; gaps stay gaps."""

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.ui import theme
from app.ui.models.live_history import Mark, Strip, Trace

_HEAD, _FOOT, _PLOT, _LINE = 24, 20, 82, 15
_MARK = 5.0  # half the width of a mark's triangle


class StripChart(QWidget):
    """Draws one strip; it keeps nothing but what it was shown last."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strip: Strip | None = None
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_strip(self, strip: Strip, group: str = "") -> None:
        """Show newer values; group is what the strip belongs to, for those who hear it."""
        self._strip = strip
        self.setAccessibleName(f"{group}: {strip.title}" if group else strip.title)
        self.setAccessibleDescription(strip.sentence)
        self.update()

    @property
    def strip(self) -> Strip | None:
        """Return what is shown."""
        return self._strip

    def sizeHint(self) -> QSize:
        return QSize(240, _HEAD + _PLOT + _FOOT)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, _HEAD + _PLOT + _FOOT)

    def event(self, event: QEvent) -> bool:
        """Say under the pointer what was at that moment."""
        if isinstance(event, QHelpEvent) and self._strip is not None:
            age = (1 - event.pos().x() / max(1, self.width())) * self._strip.span_s
            QToolTip.showText(event.globalPos(), self._strip.at(max(0.0, age)), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the heading, the axes, the lines, the limit, and where a limit was reached."""
        strip = self._strip
        if strip is None:
            return
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        frame = QRectF(0, _HEAD, self.width(), _PLOT)
        # texts lie above the highest value, so that no line runs through them
        has_texts = bool(strip.top_text) or len(strip.traces) > 1
        plot = frame.adjusted(0, _LINE + 3 if has_texts else 0, 0, 0)
        painter.fillRect(frame, QColor(tokens.window))
        self._draw_head(painter, strip, tokens)
        self._draw_axes(painter, plot, strip, tokens)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.save()
        painter.setClipRect(plot.adjusted(0, -1, 0, 1))
        for trace in strip.traces:
            _draw_trace(painter, plot, trace, strip, QColor(getattr(tokens, trace.role)))
        painter.restore()
        inside = frame.adjusted(6, 2, -6, 0)
        _draw_top(painter, inside, strip, tokens)
        self._draw_limit(painter, plot, strip, tokens)
        self._draw_names(painter, inside, strip, tokens)
        for mark in strip.marks:
            _draw_mark(painter, plot, mark, strip, tokens)
        painter.end()

    def _draw_head(self, painter: QPainter, strip: Strip, tokens: theme.Tokens) -> None:
        head = QRectF(0, 0, self.width(), _HEAD - 6)
        painter.setPen(QColor(tokens.dim))
        painter.drawText(
            head, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, strip.title
        )
        painter.setFont(theme.number_font(self.font(), 13))
        painter.setPen(QColor(tokens.text))
        room = self.width() - painter.fontMetrics().horizontalAdvance(strip.title) - theme.M
        now = painter.fontMetrics().elidedText(strip.now, Qt.TextElideMode.ElideRight, room)
        painter.drawText(head, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, now)
        painter.setFont(self.font())

    def _draw_axes(
        self, painter: QPainter, plot: QRectF, strip: Strip, tokens: theme.Tokens
    ) -> None:
        small = QFont(self.font())
        small.setPixelSize(11)
        painter.setFont(small)
        painter.setPen(QPen(QColor(tokens.line), 1))
        for part in (0.0, 0.5, 1.0):
            y = round(plot.top() + part * plot.height()) + 0.5
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(QColor(tokens.dim))
        metrics = painter.fontMetrics()
        for age, text in strip.ticks:
            width = metrics.horizontalAdvance(text)
            left = min(max(0.0, _x(plot, age, strip) - width / 2), self.width() - width)
            painter.drawText(QPointF(left, plot.bottom() + 4 + metrics.ascent()), text)

    def _draw_limit(
        self, painter: QPainter, plot: QRectF, strip: Strip, tokens: theme.Tokens
    ) -> None:
        if strip.limit is None:
            return
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
        metrics = painter.fontMetrics()
        for trace in reversed(strip.traces):
            width = metrics.horizontalAdvance(trace.name)
            painter.setPen(QColor(tokens.dim))
            painter.drawText(
                QRectF(x - width, inside.top(), width, _LINE),
                Qt.AlignmentFlag.AlignCenter,
                trace.name,
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


def _draw_top(painter: QPainter, inside: QRectF, strip: Strip, tokens: theme.Tokens) -> None:
    if not strip.top_text:
        return
    width = painter.fontMetrics().horizontalAdvance(strip.top_text)
    place = QRectF(inside.left(), inside.top(), width, _LINE)
    painter.setPen(QColor(tokens.dim))
    painter.drawText(
        place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, strip.top_text
    )


def _draw_trace(
    painter: QPainter, plot: QRectF, trace: Trace, strip: Strip, colour: QColor
) -> None:
    for piece in runs(trace):
        line = QPolygonF(
            [QPointF(_x(plot, age, strip), _y(plot, value, strip.top)) for age, value in piece]
        )
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


def _draw_mark(
    painter: QPainter, plot: QRectF, mark: Mark, strip: Strip, tokens: theme.Tokens
) -> None:
    """Draw a line with a triangle on top; a limit that is normal to reach has an empty one."""
    x = min(max(_x(plot, mark.age_s, strip), plot.left() + _MARK), plot.right() - _MARK)
    colour = QColor(tokens.dim if mark.is_normal else tokens.error)
    painter.setPen(QPen(colour, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush if mark.is_normal else colour)
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
    top = plot.top() - 1
    painter.drawPolygon(
        QPolygonF([QPointF(x - _MARK, top), QPointF(x + _MARK, top), QPointF(x, top + 2 * _MARK)])
    )


def _pen(trace: Trace, colour: QColor) -> QPen:
    style = Qt.PenStyle.DashLine if trace.is_dashed else Qt.PenStyle.SolidLine
    return QPen(colour, 2, style)


def _x(plot: QRectF, age_s: float, strip: Strip) -> float:
    return plot.right() - age_s / strip.span_s * plot.width()


def _y(plot: QRectF, value: float, top: float) -> float:
    return plot.bottom() - min(1.0, max(0.0, value / top)) * (plot.height() - 2)
