"""A pyqtgraph plot in the look of the theme: no menu, no zoom, colours that follow the theme."""

import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui import theme


class Plot(QWidget):
    """The frame of every plot; a subclass adds its items, then calls restyle."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_styled = False
        pg.setConfigOptions(antialias=True)
        self.setAccessibleName(name)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self._plot = pg.PlotWidget()
        for part in (self._plot, self._plot.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout.addWidget(self._plot)
        self.item = self._plot.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.setMouseEnabled(x=False, y=False)
        for side in ("bottom", "left"):  # else small figures get a prefix: "slowdown × (x0.001)"
            self.item.getAxis(side).enableAutoSIPrefix(False)

    def changeEvent(self, event: QEvent) -> None:
        """Follow a change of theme; pyqtgraph does not by itself."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and self._is_styled:
            self.restyle()

    def restyle(self) -> None:
        """Take all colours from the theme."""
        self._is_styled = True
        tokens = theme.tokens_for(self)
        self._plot.setBackground(QColor(tokens.card))
        for name in ("bottom", "left"):
            axis = self.item.getAxis(name)
            axis.setPen(pg.mkPen(tokens.line))
            axis.setTextPen(pg.mkPen(tokens.dim))
        self.draw_in(tokens)

    def draw_in(self, tokens: theme.Tokens) -> None:
        """Give the items their colours."""
