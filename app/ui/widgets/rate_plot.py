"""Measured rates as bars with their 95 % interval; one plot per rate, never merged."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from app.ui import theme
from app.ui.models.bench_model import RateBar
from app.ui.widgets.plot import Plot


class RatePlot(Plot):
    """Draws the rates of one test, in tokens per second from zero."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.setFixedHeight(210)
        self.item.setLabel("left", self.tr("tok/s"))
        self.item.getAxis("bottom").setHeight(40)  # two lines of text
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.5)
        self._ends = pg.ErrorBarItem(beam=0.18)
        self.item.addItem(self._bars)
        self.item.addItem(self._ends)
        self.restyle()

    def show_rates(self, bars: tuple[RateBar, ...]) -> None:
        """Show other rates, oldest first."""
        places = np.arange(len(bars), dtype=float)
        mean = np.array([bar.mean for bar in bars], dtype=float)
        self._bars.setOpts(x=places, height=mean)
        self._ends.setData(
            x=places,
            y=mean,
            top=np.array([bar.high for bar in bars], dtype=float) - mean,
            bottom=mean - np.array([bar.low for bar in bars], dtype=float),
        )
        self.item.getAxis("bottom").setTicks([[(i, bar.label) for i, bar in enumerate(bars)]])
        self.item.setXRange(-0.6, max(len(bars) - 0.4, 0.6), padding=0)
        self.item.setYRange(0, max((bar.high for bar in bars), default=1.0) * 1.1, padding=0)
        self.setAccessibleDescription("; ".join(bar.text for bar in bars))
        self._plot.setToolTip("\n".join(f"{b.label.splitlines()[0]}: {b.text}" for b in bars))

    def draw_in(self, tokens: theme.Tokens) -> None:
        """Give bars and whiskers their colours."""
        self._bars.setOpts(brush=QColor(tokens.other), pen=pg.mkPen(tokens.card))
        self._ends.setData(pen=pg.mkPen(tokens.text, width=2))
