"""The predicted slowdown as a curve with its range, the chosen point, and what was measured."""

import pyqtgraph as pg
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from app.ui import theme
from app.ui.widgets.curve import EMPTY, Curve
from app.ui.widgets.plot import Plot


class SlowdownPlot(Plot):
    """Draws one curve; only the point and its label move while the slider does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Slowdown curve"))
        self.setObjectName("slowdownPlot")
        self.setMinimumHeight(210)
        self.setMaximumHeight(340)
        self._low = pg.PlotDataItem()
        self._high = pg.PlotDataItem()
        self._band = pg.FillBetweenItem(self._low, self._high)
        self._line = pg.PlotDataItem()
        self._measured = pg.ScatterPlotItem(symbol="d", size=11)
        self._point = pg.ScatterPlotItem(symbol="o", size=12)
        self._label = pg.TextItem(anchor=(0, 1))
        for part in (self._band, self._low, self._high, self._line, self._measured, self._point):
            self.item.addItem(part)
        self.item.addItem(self._label, ignoreBounds=True)
        self._curve = EMPTY
        self.restyle()

    def show_curve(self, curve: Curve) -> None:
        """Show another curve."""
        self._curve = curve
        x, y = list(curve.x), list(curve.y)
        self._low.setData(x, list(curve.low))
        self._high.setData(x, list(curve.high))
        self._line.setData(x, y)
        self.item.setLabel("bottom", curve.x_title)
        self.item.setLabel("left", curve.y_title)
        self.setAccessibleDescription(curve.sentence)

    def show_point(self, x: float | None, y: float | None, text: str) -> None:
        """Move the chosen point; None hides it."""
        if x is None or y is None:
            self._point.setData([], [])
            self._label.setText("")
            return
        self._point.setData([x], [y])
        self._label.setText(text)
        self._label.setPos(x, y)
        # the label would leave the plot on its right half
        middle = (self._curve.x[0] + self._curve.x[-1]) / 2 if self._curve.x else 0
        self._label.setAnchor((1.1, 1.2) if x > middle else (-0.1, 1.2))

    def show_measured(self, points: tuple[tuple[float, float], ...]) -> None:
        """Mark what was measured."""
        self._measured.setData([x for x, _ in points], [y for _, y in points])

    def draw_in(self, tokens: theme.Tokens) -> None:
        """Give curve, band and points their colours."""
        band = QColor(tokens.accent)
        band.setAlpha(50)
        self._band.setBrush(band)
        self._low.setPen(None)
        self._high.setPen(None)
        self._line.setPen(pg.mkPen(tokens.accent, width=2))
        self._point.setBrush(QColor(tokens.host))
        self._point.setPen(pg.mkPen(tokens.card, width=2))
        self._measured.setBrush(QColor(tokens.good))
        self._measured.setPen(pg.mkPen(tokens.card, width=1))
        self._label.setColor(QColor(tokens.text))
