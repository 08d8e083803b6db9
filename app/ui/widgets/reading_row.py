"""A line that says what is being read and how far, with the way to stop it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app.ui import theme


class ReadingRow(QWidget):
    """Hidden unless something is read, or was stopped and can be read again."""

    cancel_wanted = Signal()
    again_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        self._text = QLabel()
        self._text.setObjectName("readingText")
        self._bar = QProgressBar()
        self._bar.setObjectName("readingProgress")
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(8)
        self._bar.setAccessibleName(self.tr("How far the log is read"))
        self._cancel = QPushButton(self.tr("Stop"))
        self._cancel.setObjectName("readingStop")
        self._cancel.setAccessibleName(self.tr("Stop reading the log"))
        self._again = QPushButton(self.tr("Look for the lines that matter"))
        self._again.setObjectName("readingAgain")
        self._cancel.clicked.connect(self.cancel_wanted)
        self._again.clicked.connect(self.again_wanted)
        layout.addWidget(self._text)
        layout.addWidget(self._bar, 100)
        layout.addWidget(self._cancel)
        layout.addWidget(self._again)
        layout.addStretch(1)
        self.hide()

    def show_progress(self, percent: int, text: str) -> None:
        """Show how far the reading is."""
        self._text.setText(f"{text}, {percent} %")
        self._bar.setValue(percent)
        self._bar.show()
        self._cancel.show()
        self._again.hide()
        self.show()

    def show_stopped(self, text: str) -> None:
        """Say that it was stopped."""
        self._text.setText(text)
        self._bar.hide()
        self._cancel.hide()
        self._again.show()
        self.show()
