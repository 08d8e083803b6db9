"""Measured rates as points with their 95 % interval; one plot per rate, never merged."""

import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui import theme
from app.ui.models.bench_model import RateBar


class RatePlot(QWidget):
    """Draws the rates of one test, in tokens per second from zero."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        pg.setConfigOptions(antialias=True)
        self.setAccessibleName(name)
        self.setFixedHeight(210)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self._plot = pg.PlotWidget()
        for part in (self._plot, self._plot.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout.addWidget(self._plot)
        item = self._plot.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.setMouseEnabled(x=False, y=False)
        item.setLabel("left", self.tr("tok/s"))
        item.getAxis("bottom").setHeight(40)  # two lines of text
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.5)
        self._ends = pg.ErrorBarItem(beam=0.18)
        item.addItem(self._bars)
        item.addItem(self._ends)
        self._shown: tuple[RateBar, ...] = ()
        self.restyle()

    def show_rates(self, bars: tuple[RateBar, ...]) -> None:
        """Show other rates, oldest first."""
        self._shown = bars
        places = list(range(len(bars)))
        self._bars.setOpts(x=places, height=[bar.mean for bar in bars])
        import numpy  # pyqtgraph's error bars take arrays only

        self._ends.setData(
            x=numpy.array(places, dtype=float),
            y=numpy.array([bar.mean for bar in bars], dtype=float),
            top=numpy.array([bar.high - bar.mean for bar in bars], dtype=float),
            bottom=numpy.array([bar.mean - bar.low for bar in bars], dtype=float),
        )
        item = self._plot.getPlotItem()
        item.getAxis("bottom").setTicks([[(i, bar.label) for i, bar in enumerate(bars)]])
        item.setXRange(-0.6, max(len(bars) - 0.4, 0.6), padding=0)
        item.setYRange(0, max((bar.high for bar in bars), default=1.0) * 1.1, padding=0)
        self.setAccessibleDescription("; ".join(bar.text for bar in bars))
        self._plot.setToolTip("\n".join(f"{b.label.splitlines()[0]}: {b.text}" for b in bars))

    def changeEvent(self, event: QEvent) -> None:
        """Follow a change of theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_shown"):
            self.restyle()

    def restyle(self) -> None:
        """Take all colours from the theme."""
        tokens = theme.tokens_for(self)
        self._plot.setBackground(QColor(tokens.card))
        self._bars.setOpts(brush=QColor(tokens.device), pen=pg.mkPen(tokens.card))
        self._ends.setData(pen=pg.mkPen(tokens.host, width=2))
        for name in ("bottom", "left"):
            axis = self._plot.getPlotItem().getAxis(name)
            axis.setPen(pg.mkPen(tokens.line))
            axis.setTextPen(pg.mkPen(tokens.dim))
