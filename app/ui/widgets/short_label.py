"""A line of text that never widens its page: without room it is cut, and told on hover."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QToolTip

_SHORTEST = 60  # pixels


class ShortLabel(QLabel):
    """Shows plain text, with dots in the middle where it is longer than its room."""

    def minimumSizeHint(self) -> QSize:
        """Let the text be cut."""
        whole = super().minimumSizeHint()
        return QSize(min(whole.width(), _SHORTEST), whole.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text as far as it goes."""
        shown = self._shown()
        if shown == self.text():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        self.style().drawItemText(
            painter, self.contentsRect(), self.alignment(), self.palette(), self.isEnabled(),
            shown, self.foregroundRole(),
        )  # fmt: skip
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Tell the whole text where it is cut and nothing else is told."""
        is_asked = isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip
        if is_asked and not self.toolTip() and self._shown() != self.text():
            assert isinstance(event, QHelpEvent)
            QToolTip.showText(event.globalPos(), self.text(), self)
            return True
        return super().event(event)

    def _shown(self) -> str:
        room = self.contentsRect().width()
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
