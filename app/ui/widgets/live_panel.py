"""The live strips and the limits that were reached; they cost nothing while nobody can see them."""

from datetime import datetime

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.live import LiveReading
from app.ui import theme
from app.ui.models import live_model
from app.ui.models.event_model import EventRow
from app.ui.models.live_history import History
from app.ui.widgets.event_list import EventList
from app.ui.widgets.strip_groups import StripGroups
from app.work.live import Live


class LivePanel(QWidget):
    """Shows what Live reads, and has it read only while the panel is on the screen."""

    def __init__(self, live: Live, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("livePanel")
        self._live = live
        self._limit: int | None = None
        self._history = History()
        self._watched: QWidget | None = None
        self._events = EventList(
            "liveEvents", self.tr("No limit was reached while this was shown.")
        )
        self._strips = StripGroups()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        layout.addWidget(self._events)
        layout.addWidget(self._strips)
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
        when = datetime.now().strftime("%H:%M:%S")
        for event in self._history.add(reading):
            self._events.add(EventRow(when, event.text, event.is_normal))
        self._show()

    def _show(self) -> None:
        self._strips.show_groups(live_model.groups(self._history, self._limit))
