"""Paints a drawing of shapes: on paper with the report's colours, in the window with its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPaintDevice,
    QPainter,
    QPen,
    QPolygonF,
)

from app.report.drawing import Anchor, Area, Box, Drawing, Mark, Paint, Shape, Stroke, Text


@dataclass(frozen=True, slots=True)
class Style:
    """Colours, both fonts, what is painted on, and its pixels for one unit of the drawing."""

    colours: Mapping[Paint, QColor]
    plain: QFont
    bold: QFont
    device: QPaintDevice
    scale: float = 1.0


def paint(painter: QPainter, drawing: Drawing, style: Style) -> None:
    """Paint from the painter's origin."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for shape in drawing.shapes:
        _paint(painter, shape, style)
    painter.restore()


def _paint(painter: QPainter, shape: Shape, style: Style) -> None:
    colour, scale = style.colours[shape.paint], style.scale
    match shape:
        case Box():
            _box(painter, shape, colour, scale)
        case Stroke():
            pen = QPen(colour, shape.width * scale)
            if shape.is_dashed:
                pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.drawPolyline(_polygon(shape.points, scale))
        case Area():
            _fill(painter, _polygon(shape.points, scale), colour)
        case Mark():
            _mark(painter, shape, colour, scale)
        case Text():
            font = style.bold if shape.is_bold else style.plain
            painter.setFont(font)
            painter.setPen(colour)
            width = QFontMetricsF(font, style.device).horizontalAdvance(shape.text)
            share = {Anchor.START: 0.0, Anchor.MIDDLE: 0.5, Anchor.END: 1.0}[shape.anchor]
            painter.drawText(QPointF(shape.x * scale - share * width, shape.y * scale), shape.text)


def _box(painter: QPainter, box: Box, colour: QColor, scale: float) -> None:
    """Fill a rectangle; what has a price is hatched, so that colour is never alone."""
    area = QRectF(box.x * scale, box.y * scale, box.width * scale, box.height * scale)
    painter.fillRect(area, QBrush(colour))
    if box.paint is not Paint.PRICE:
        return
    painter.save()
    painter.setClipRect(area, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(QColor(255, 255, 255, 150), 1.2 * scale))
    x, step = area.left() - area.height(), 5 * scale
    while x < area.right():
        painter.drawLine(QPointF(x, area.bottom()), QPointF(x + area.height(), area.top()))
        x += step
    painter.restore()


def _mark(painter: QPainter, mark: Mark, colour: QColor, scale: float) -> None:
    x, y, size = mark.x, mark.y, mark.size
    if mark.is_diamond:
        corners = ((x, y - size), (x + size, y), (x, y + size), (x - size, y))
        _fill(painter, _polygon(corners, scale), colour)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(QPointF(x * scale, y * scale), size * scale, size * scale)


def _fill(painter: QPainter, area: QPolygonF, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(area)


def _polygon(points: tuple[tuple[float, float], ...], scale: float) -> QPolygonF:
    return QPolygonF([QPointF(x * scale, y * scale) for x, y in points])
