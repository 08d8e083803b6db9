"""What a line of a log means at a glance: a colour and a shape for each meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.ui import theme


class Mark(Enum):
    """The meanings, the more urgent first; values are words for the legend."""

    ERROR = "error"
    WARNING = "warning"
    PLACEMENT = "placement"
    CONTEXT = "context, requests"
    RATE = "speed"
    NOTE = "detail"
    HARMLESS = "harmless"


@dataclass(frozen=True, slots=True)
class LineMarks:
    """Which lines, counted from 1, are marked: by line, and sorted for each meaning."""

    by_line: Mapping[int, Mark] = field(default_factory=dict)
    by_mark: tuple[tuple[Mark, Sequence[int]], ...] = ()  # the most urgent first


def colour(mark: Mark, tokens: theme.Tokens) -> QColor:
    """Return the colour of a meaning."""
    return QColor(
        {
            Mark.ERROR: tokens.error,
            Mark.WARNING: tokens.warning,
            Mark.PLACEMENT: tokens.accent,
            Mark.CONTEXT: tokens.compute,
            Mark.RATE: tokens.good,
        }.get(mark, tokens.dim)
    )


def draw(painter: QPainter, mark: Mark, box: QRectF, ink: QColor) -> None:
    """Draw the shape of a meaning into a box, so that it is told apart without its colour."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    side = min(box.width(), box.height())
    box = QRectF(box.center().x() - side / 2, box.center().y() - side / 2, side, side)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    if mark is Mark.ERROR:
        _draw_cross(painter, box, ink)
    elif mark is Mark.WARNING:
        painter.drawPolygon(
            QPolygonF([QPointF(box.center().x(), box.top()), box.bottomRight(), box.bottomLeft()])
        )
    elif mark is Mark.PLACEMENT:
        painter.drawRect(box.adjusted(1, 1, -1, -1))
    elif mark is Mark.CONTEXT:
        middle = box.center()
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(middle.x(), box.top()),
                    QPointF(box.right(), middle.y()),
                    QPointF(middle.x(), box.bottom()),
                    QPointF(box.left(), middle.y()),
                ]
            )
        )
    elif mark is Mark.RATE:
        painter.drawEllipse(box.adjusted(0.5, 0.5, -0.5, -0.5))
    elif mark is Mark.NOTE:
        painter.drawRect(QRectF(box.left(), box.center().y() - 1, side, 2))
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(ink, 1.5))
        painter.drawEllipse(box.adjusted(1, 1, -1, -1))
    painter.restore()


def _draw_cross(painter: QPainter, box: QRectF, ink: QColor) -> None:
    inner = box.adjusted(1.5, 1.5, -1.5, -1.5)
    painter.setPen(QPen(ink, 2.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawLine(inner.topLeft(), inner.bottomRight())
    painter.drawLine(inner.topRight(), inner.bottomLeft())
