"""The way from today's speed to the best one as columns, each with its range and its source."""

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.report.blocks import StepChart
from app.report.drawing import Drawing, Paint, drawn
from app.ui import theme
from app.work.paint import Style, paint

_SIZE = 12.0
_LEAST_WIDTH = 420


class WaterfallView(QWidget):
    """Draws a chart; the columns are walked through with the arrow keys and told in words."""

    chosen = Signal(str)  # what is said of the column that was chosen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chart: StepChart | None = None
        self._drawing: Drawing | None = None
        self._index = -1
        self.setObjectName("waterfall")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(_LEAST_WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("From now to the best speed"))

    @property
    def told(self) -> tuple[str, ...]:
        """Return what is said of each column."""
        return tuple(bar.told for bar in self._chart.bars) if self._chart is not None else ()

    def show_chart(self, chart: StepChart | None) -> None:
        """Show another chart; None hides the view."""
        self._chart, self._index = chart, -1
        self.setVisible(chart is not None)
        self.setAccessibleDescription(" ".join(self.told))
        self._lay_out()

    def choose(self, index: int) -> None:
        """Mark a column and say what it is."""
        if not self.told:
            return
        self._index = max(0, min(index, len(self.told) - 1))
        text = self.told[self._index]
        self.setAccessibleDescription(text)
        self.chosen.emit(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the columns, and a frame around the chosen one."""
        del event
        if self._drawing is None:
            return
        painter = QPainter(self)
        plain = QFont(self.font())
        plain.setPixelSize(int(_SIZE))
        bold = QFont(plain)
        bold.setWeight(QFont.Weight.DemiBold)
        tokens = theme.tokens_for(self)
        paint(painter, self._drawing, Style(_colours(tokens), plain, bold, self))
        if 0 <= self._index < len(self._drawing.zones):
            zone = self._drawing.zones[self._index]
            pen = QPen(QColor(tokens.accent), 2 if self.hasFocus() else 1)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            area = QRectF(zone.left + 1, 1.2 * _SIZE, zone.right - zone.left - 2, 0)
            area.setBottom(self._drawing.height - 1)
            painter.drawRoundedRect(area, theme.XS, theme.XS)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the column beside, the first or the last one."""
        last = len(self.told) - 1
        wanted = {
            Qt.Key.Key_Left: self._index - 1,
            Qt.Key.Key_Right: self._index + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(Qt.Key(event.key()))
        if wanted is None:
            super().keyPressEvent(event)
            return
        self.choose(wanted)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the column under the pointer."""
        index = self._at(event.position())
        if index >= 0:
            self.choose(index)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Choose the first column, so that the arrow keys have a start."""
        super().focusInEvent(event)
        if self._index < 0 and event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
        ):
            self.choose(0)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Show what a column is, and its source, where the pointer rests."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self._at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), self.told[index] if index >= 0 else "", self)
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the columns out for the new width."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        chart = self._chart
        self._drawing = drawn(chart, max(self.width(), _LEAST_WIDTH), _SIZE) if chart else None
        self.setFixedHeight(int(self._drawing.height) + 2 if self._drawing is not None else 0)
        self.update()

    def _at(self, position: QPointF) -> int:
        zones = self._drawing.zones if self._drawing is not None else ()
        return next((i for i, z in enumerate(zones) if z.left <= position.x() < z.right), -1)


def _colours(tokens: theme.Tokens) -> dict[Paint, QColor]:
    names = {
        Paint.TEXT: tokens.text,
        Paint.DIM: tokens.dim,
        Paint.GRID: tokens.line,
        Paint.NOW: tokens.other,
        Paint.GAIN: tokens.good,
        Paint.PRICE: tokens.host,
        Paint.CURVE: tokens.device,
        Paint.BAND: tokens.raised,
        Paint.POINT: tokens.device,
        Paint.BACK: tokens.card,
    }
    return {name: QColor(colour) for name, colour in names.items()}
