"""Commands and log lines in the fixed font: they break anywhere, for paths have no spaces."""

from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from app.ui import theme

_BY_MOUSE = Qt.TextInteractionFlag.TextSelectableByMouse
_BY_KEYS = Qt.TextInteractionFlag.TextSelectableByKeyboard


class FixedText(QTextEdit):
    """Shows a text to select, as tall as its lines and never wider than its room."""

    def __init__(self, name: str, *, has_focus: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(theme.fixed_font())
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(_BY_MOUSE | _BY_KEYS if has_focus else _BY_MOUSE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(0)
        self.document().contentsChanged.connect(self._fit)

    def text(self) -> str:
        """Return the text."""
        return self.toPlainText()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that the lines need in another width."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Let the wheel scroll the page."""
        event.ignore()

    def _fit(self) -> None:
        height = ceil(self.document().size().height())
        if height and height != self.height():
            self.setFixedHeight(height)
