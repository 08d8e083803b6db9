"""Memory over the context of a slot, a line per number of slots, and where the memory ends."""

from dataclasses import dataclass, replace
from math import log2

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from app.core import units
from app.ui import theme
from app.ui.models.memory_model import EMPTY, DrawnLine, MemoryView
from app.ui.widgets.plot import Plot

_STYLES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
_OUTSIDE = 28  # pixels
_NEAR_X, _NEAR_Y = 0.15, 0.08  # of the picture: titles so close would cover each other
_HEADROOM = 1.25  # of the limit: beyond it nothing can be loaded


@dataclass(frozen=True, slots=True)
class _Title:
    """A line's name and its place, in the plot's units; anchor as pyqtgraph has it."""

    text: str
    anchor: tuple[int, int]
    x: float
    y: float

    def is_near(self, other: "_Title", width: float, height: float) -> bool:
        """Tell whether two names would cover each other."""
        is_beside = abs(self.x - other.x) <= _NEAR_X * width
        is_level = abs(self.y - other.y) <= _NEAR_Y * height
        return self.anchor == other.anchor and is_beside and is_level


class MemoryPlot(Plot):
    """Draws a MemoryView; the lines differ by their pattern, never by colour alone."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Memory over context and slots"))
        self.setObjectName("memoryPlot")
        self.setMinimumHeight(260)
        self.setMaximumHeight(340)
        self._view = EMPTY
        self._limit = pg.InfiniteLine(angle=0)
        self._limit_text = pg.TextItem(anchor=(1, 1))  # at the right, where no line ends
        self._lines = [pg.PlotDataItem() for _ in _STYLES]
        self._titles = [pg.TextItem() for _ in _STYLES]
        self._ends = pg.ScatterPlotItem(symbol="x", size=13)
        for line in (*self._lines, self._ends):
            self.item.addItem(line)
        for text in (*self._titles, self._limit_text, self._limit):
            self.item.addItem(text, ignoreBounds=True)
        # the last context's name stands half outside of the axis
        self.item.layout.setContentsMargins(1, 1, _OUTSIDE, 1)
        self.item.getAxis("bottom").setStyle(hideOverlappingLabels=False)
        self.item.setLabel("bottom", self.tr("context of each slot, tokens"))
        self.item.setLabel("left", self.tr("memory, GiB"))
        self.restyle()

    @property
    def view(self) -> MemoryView:
        """Return what is shown."""
        return self._view

    def show_view(self, view: MemoryView) -> None:
        """Show another curve; contexts are drawn by their doublings."""
        self._view = view
        top = self._top()
        for i, item in enumerate(self._lines):
            line = view.lines[i] if i < len(view.lines) else None
            item.setData([log2(x) for x in line.x] if line else [], list(line.y) if line else [])
        self._show_titles(top)
        ends = [line.end for line in view.lines if line.end and line.end[0] >= line.x[0]]
        self._ends.setData([log2(x) for x, _ in ends], [y for _, y in ends])
        self._limit.setVisible(view.limit is not None)
        self._limit_text.setText(view.limit_text)
        if view.lines:
            x = [log2(n) for n in view.lines[0].x]
            self.item.setRange(xRange=(x[0], x[-1]), yRange=(0, top), padding=0.02)
            ticks = [(log2(n), units.count(int(n))) for n in view.lines[0].x]
            self.item.getAxis("bottom").setTicks([ticks])
            if view.limit is not None:
                self._limit.setValue(view.limit)
                self._limit_text.setPos(x[-1], view.limit)
        self.setAccessibleDescription(view.sentence)

    def _top(self) -> float:
        lines, limit = self._view.lines, self._view.limit
        top = max((y for line in lines for y in line.y), default=1.0)
        if limit is None:
            return top
        lowest = min((line.y[0] for line in lines), default=0.0)
        return max(min(top, max(limit, lowest) * _HEADROOM), limit * 1.15)

    def _show_titles(self, top: float) -> None:
        """Name the lines; names that would cover each other stand below one another."""
        lines = self._view.lines
        names: list[_Title] = []
        for name in filter(None, (_title_of(line, top) for line in lines)):
            width = log2(lines[0].x[-1]) - log2(lines[0].x[0])
            near = next((i for i, n in enumerate(names) if n.is_near(name, width, top)), None)
            if near is None:
                names.append(name)
            else:
                names[near] = replace(names[near], text=f"{names[near].text}\n{name.text}")
        for i, item in enumerate(self._titles):
            item.setText(names[i].text if i < len(names) else "")
            if i < len(names):
                item.setAnchor(names[i].anchor)
                item.setPos(names[i].x, names[i].y)

    def draw_in(self, tokens: theme.Tokens) -> None:
        """Give lines, marks and texts their colours."""
        for item, style in zip(self._lines, _STYLES, strict=True):
            item.setPen(pg.mkPen(tokens.kv, width=2, style=style))
        self._limit.setPen(pg.mkPen(tokens.error, width=1))
        self._ends.setPen(pg.mkPen(tokens.error, width=3))
        for text in self._titles:
            text.setColor(QColor(tokens.text))
        self._limit_text.setColor(QColor(tokens.error))


def _title_of(line: DrawnLine, top: float) -> _Title | None:
    """Name a line where the memory ends, else where the line does."""
    if line.end is not None:
        # an end before the first context is named at the edge of the picture
        return _Title(line.end_text, (0, 0), log2(max(line.end[0], line.x[0])), line.end[1])
    inside = [(x, y) for x, y in zip(line.x, line.y, strict=True) if y <= top]
    if not inside:
        return None  # it is above the picture; the sentence below says so
    return _Title(line.title, (1, 1), log2(inside[-1][0]), inside[-1][1])
