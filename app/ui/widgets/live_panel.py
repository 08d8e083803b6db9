"""The live strips side by side; they cost nothing while nobody can see them."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.core.live import LiveReading
from app.ui import theme
from app.ui.models import live_gpu_model, live_model
from app.ui.models.live_history import History
from app.ui.widgets.card import dim_label
from app.ui.widgets.strip_chart import StripChart
from app.work.live import Live

_NAMES = ("cpuStrip", "memoryStrip", "swapStrip")
_COLUMNS = 3


class LivePanel(QWidget):
    """Shows what Live reads, and has it read only while the panel is on the screen."""

    def __init__(self, live: Live, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live = live
        self._limit: int | None = None
        self._history = History()
        self._watched: QWidget | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.XL)
        self._grid.setVerticalSpacing(theme.M)
        self._charts: list[StripChart] = []
        self._event = dim_label()
        self._event.setObjectName("liveEvent")
        self._event.hide()
        live.read.connect(self._on_read)
        self._show()

    def set_memory_limit(self, limit_bytes: int | None) -> None:
        """Draw a container's limit into the memory strip, None = none."""
        self._limit = limit_bytes
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        """Start reading."""
        super().showEvent(event)
        window = self.window()
        if window is not self._watched:
            self._watched = window
            window.installEventFilter(self)
        self._follow()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading."""
        super().hideEvent(event)
        self._live.stop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stop while the window is minimised."""
        if event.type() is QEvent.Type.WindowStateChange:
            self._follow()
        return super().eventFilter(watched, event)

    def _follow(self) -> None:
        if self.isVisible() and not self.window().isMinimized():
            self._live.start()
        else:
            self._live.stop()

    def _on_read(self, reading: LiveReading) -> None:
        self._history.add(reading)
        self._show()

    def _show(self) -> None:
        strips = live_model.strips(self._history, self._limit)
        if len(strips) != len(self._charts):
            self._arrange(len(strips))
        for chart, strip in zip(self._charts, strips, strict=True):
            chart.show_strip(strip)
        event = live_gpu_model.event(self._history)
        self._event.setText(event)
        self._event.setVisible(bool(event))

    def _arrange(self, count: int) -> None:
        """Make or remove charts: a GPU's appear with its first reading."""
        while len(self._charts) > count:
            chart = self._charts.pop()
            self._grid.removeWidget(chart)
            chart.deleteLater()
        while len(self._charts) < count:
            number = len(self._charts)
            name = _NAMES[number] if number < len(_NAMES) else f"gpuStrip{number - len(_NAMES)}"
            chart = StripChart(name, self)
            self._grid.addWidget(chart, number // _COLUMNS, number % _COLUMNS)
            chart.show()
            self._charts.append(chart)
        self._grid.removeWidget(self._event)
        self._grid.addWidget(self._event, (count + _COLUMNS - 1) // _COLUMNS, 0, 1, _COLUMNS)
