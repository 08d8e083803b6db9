"""The live strips side by side; they cost nothing while nobody can see them."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.probes.live import LiveReading
from app.ui import theme
from app.ui.models import live_model
from app.ui.widgets.strip_chart import StripChart
from app.work.live import Live

_NAMES = ("cpuStrip", "memoryStrip", "swapStrip")


class LivePanel(QWidget):
    """Shows what Live reads, and has it read only while the panel is on the screen."""

    def __init__(self, live: Live, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._live = live
        self._limit: int | None = None
        self._history = live_model.History()
        self._watched: QWidget | None = None
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.XL)
        self._charts = tuple(StripChart(name) for name in _NAMES)
        for chart in self._charts:
            layout.addWidget(chart, 1)
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
        for chart, strip in zip(self._charts, strips, strict=True):
            chart.show_strip(strip)
