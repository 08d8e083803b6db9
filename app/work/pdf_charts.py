"""Charts of the PDF report: painted as vectors where the text has a placeholder."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPaintDevice,
    QPainter,
    QPen,
    QPyTextObject,
    QTextDocument,
    QTextFormat,
)

from app.core import units
from app.report import svg
from app.report.blocks import ByteBar, ByteChart, Chart, CurveChart, Ink, RateBar, StepChart
from app.report.drawing import drawn
from app.report.html import COLOURS
from app.work.paint import Style, paint

CHART_OBJECT = QTextFormat.ObjectTypes.UserObject.value + 1
CHART_PROPERTY = QTextFormat.Property.UserProperty.value + 1
TEXT = QColor("#1b1f24")
DIM = QColor("#5a6270")
EMPTY = QColor("#e3e6ea")

# all in points
_TITLE, _LABEL = 9.0, 8.0
_BAR = 10.0
_GAP = 4.0
_AFTER = 8.0
_SWATCH = 7.0
_RATE_LABEL = 0.28  # shares of the width that a rate's name and its figures take
_RATE_VALUE = 0.34
_SMALLEST = 1.5  # a piece that is there is never invisible
_PICTURE = {name: QColor(colour) for name, colour in svg.COLOURS.items()}


@dataclass(frozen=True, slots=True)
class _Scale:
    """Device pixels for a point, the width, and the fonts for measuring and painting."""

    point: float
    width: float
    title: QFont
    label: QFont
    device: QPaintDevice

    def line(self) -> float:
        """Return the height of a line of labels."""
        return QFontMetricsF(self.label, self.device).height()

    def length(self, text: str) -> float:
        """Return the width of a label."""
        return QFontMetricsF(self.label, self.device).horizontalAdvance(text)


class ChartObject(QPyTextObject):
    """Measures and paints the charts of one document, which it holds by number."""

    def __init__(self, charts: list[Chart], device: QPaintDevice, font: QFont,
                 width: float) -> None:  # fmt: skip
        super().__init__()
        self._charts = charts
        title, label = QFont(font), QFont(font)
        title.setPointSizeF(_TITLE)
        title.setWeight(QFont.Weight.DemiBold)
        label.setPointSizeF(_LABEL)
        self._scale = _Scale(device.logicalDpiX() / 72, width, title, label, device)

    def intrinsicSize(
        self,
        doc: QTextDocument,
        posInDocument: int,
        format: QTextFormat,
    ) -> QSizeF:
        """Return the size of a chart in device pixels."""
        return QSizeF(self._scale.width, self._paint(None, self._chart(format), QPointF(0, 0)))

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, doc: QTextDocument, posInDocument: int,
        format: QTextFormat,
    ) -> None:  # fmt: skip
        """Paint a chart."""
        painter.save()
        self._paint(painter, self._chart(format), QRectF(rect).topLeft())
        painter.restore()

    def _chart(self, format: QTextFormat) -> Chart:
        return self._charts[int(format.property(CHART_PROPERTY))]

    def _paint(self, painter: QPainter | None, chart: Chart, at: QPointF) -> float:
        """Paint a chart, or only measure it without a painter; return its height."""
        scale = self._scale
        y = at.y()
        metrics = QFontMetricsF(scale.title, scale.device)
        if painter is not None:
            painter.setFont(scale.title)
            painter.setPen(TEXT)
            painter.drawText(QPointF(at.x(), y + metrics.ascent()), chart.title)
            painter.setFont(scale.label)
        y += metrics.height() + _GAP * scale.point
        if isinstance(chart, ByteChart):
            for bar in chart.bars:
                y = _byte_bar(painter, scale, bar, QPointF(at.x(), y))
        elif isinstance(chart, StepChart | CurveChart):
            y = _picture(painter, scale, chart, QPointF(at.x(), y))
        else:
            most = max((bar.high or bar.value for bar in chart.bars), default=0.0) or 1.0
            for rate in chart.bars:
                y = _rate_bar(painter, scale, rate, QPointF(at.x(), y), most)
            y += _AFTER * scale.point
        return y - at.y()


def _picture(
    painter: QPainter | None, scale: _Scale, chart: StepChart | CurveChart, at: QPointF
) -> float:
    """Paint a picture of shapes; return where the next begins."""
    drawing = drawn(chart, scale.width / scale.point, _LABEL)
    if painter is not None:
        bold = QFont(scale.label)
        bold.setWeight(QFont.Weight.DemiBold)
        painter.save()
        painter.translate(at)
        paint(painter, drawing, Style(_PICTURE, scale.label, bold, scale.device, scale.point))
        painter.restore()
    return at.y() + (drawing.height + _AFTER) * scale.point


def _byte_bar(painter: QPainter | None, scale: _Scale, bar: ByteBar, at: QPointF) -> float:
    """Paint one memory: its name and size, the bar, the legend; return where the next begins."""
    metrics = QFontMetricsF(scale.label, scale.device)
    y = at.y()
    of = f" of {units.size(bar.total_bytes)}" if bar.total_bytes else ""
    _text(painter, QPointF(at.x(), y + metrics.ascent()), bar.label, TEXT)
    size = f"{units.size(bar.used_bytes)}{of}"
    _text(painter, QPointF(at.x() + scale.width - scale.length(size), y + metrics.ascent()), size,
          TEXT)  # fmt: skip
    y += metrics.height() + 2 * scale.point
    box = QRectF(at.x(), y, scale.width, _BAR * scale.point)
    if painter is not None:
        _pieces(painter, scale, bar, box)
    y = _legend(painter, scale, bar, QPointF(at.x(), box.bottom() + 3 * scale.point))
    return y + _AFTER * scale.point


def _pieces(painter: QPainter, scale: _Scale, bar: ByteBar, box: QRectF) -> None:
    painter.fillRect(box, EMPTY)
    whole = max(bar.used_bytes, bar.total_bytes or 0) or 1
    x = box.left()
    for piece in bar.pieces:
        width = max(box.width() * piece.n_bytes / whole, _SMALLEST * scale.point)
        part = QRectF(x, box.top(), min(width, box.right() - x), box.height())
        _fill(painter, scale, part, piece.ink)
        x = part.right()


def _legend(painter: QPainter | None, scale: _Scale, bar: ByteBar, at: QPointF) -> float:
    """Paint a swatch, a name and a size for each piece; a line that is full is continued below."""
    line = scale.line()
    x, y = at.x(), at.y()
    for piece in bar.pieces:
        words = f"{piece.ink.value} {units.size(piece.n_bytes)}"
        width = (_SWATCH + 4) * scale.point + scale.length(words)
        if x > at.x() and x + width > at.x() + scale.width:
            x, y = at.x(), y + line
        if painter is not None:
            side = _SWATCH * scale.point
            _fill(painter, scale, QRectF(x, y + (line - side) / 2, side, side), piece.ink)
        ascent = QFontMetricsF(scale.label, scale.device).ascent()
        _text(painter, QPointF(x + (_SWATCH + 4) * scale.point, y + ascent), words, DIM)
        x += width + 14 * scale.point
    return y + line


def _rate_bar(
    painter: QPainter | None, scale: _Scale, bar: RateBar, at: QPointF, most: float
) -> float:
    """Paint a name, a bar with its interval as a whisker, and the figures."""
    height = max(_BAR * scale.point, scale.line())
    left = at.x() + _RATE_LABEL * scale.width
    room = (1 - _RATE_LABEL - _RATE_VALUE) * scale.width
    middle = at.y() + height / 2
    metrics = QFontMetricsF(scale.label, scale.device)
    base = middle + (metrics.ascent() - metrics.descent()) / 2
    _text(painter, QPointF(at.x(), base), bar.label, TEXT)
    figures = units.rate(bar.value)
    if bar.low is not None and bar.high is not None:
        figures += f"  ({units.interval(bar.low, bar.high)})"
    _text(painter, QPointF(at.x() + scale.width - scale.length(figures), base), figures, TEXT)
    if painter is not None:
        box = QRectF(left, middle - _BAR * scale.point / 2, room, _BAR * scale.point)
        painter.fillRect(box, EMPTY)
        _fill(painter, scale, QRectF(box.topLeft(), QSizeF(room * bar.value / most, box.height())),
              bar.ink)  # fmt: skip
        if bar.low is not None and bar.high is not None:
            _whisker(painter, scale, left + room * bar.low / most, left + room * bar.high / most,
                     middle)  # fmt: skip
    return at.y() + height + _GAP * scale.point


def _whisker(painter: QPainter, scale: _Scale, low: float, high: float, y: float) -> None:
    """Paint an interval in white over dark, so that it shows on the bar and beside it."""
    tick = 3 * scale.point
    for colour, width in ((QColor("#ffffff"), 2.2), (TEXT, 0.9)):
        painter.setPen(QPen(colour, width * scale.point))
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        for x in (low, high):
            painter.drawLine(QPointF(x, y - tick), QPointF(x, y + tick))


def _fill(painter: QPainter, scale: _Scale, box: QRectF, ink: Ink) -> None:
    """Fill a piece; system memory is hatched, so that colour is never alone."""
    painter.fillRect(box, QBrush(QColor(COLOURS[ink])))
    if ink is not Ink.HOST:
        return
    painter.save()
    painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(QColor(255, 255, 255, 150), 0.8 * scale.point))
    step = 3.5 * scale.point
    x = box.left() - box.height()
    while x < box.right():
        painter.drawLine(QPointF(x, box.bottom()), QPointF(x + box.height(), box.top()))
        x += step
    painter.restore()


def _text(painter: QPainter | None, at: QPointF, text: str, colour: QColor) -> None:
    if painter is not None:
        painter.setPen(colour)
        painter.drawText(at, text)
