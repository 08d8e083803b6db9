"""The search field above a log, with the count of lines and the way to the next."""

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.ui import icons, theme

_PAUSE_MS = 150  # while typing; each letter would search the whole file


class FindBar(QWidget):
    """Emits the text when typing pauses, and next and previous."""

    text_changed = Signal(str)
    next_wanted = Signal()
    previous_wanted = Signal()
    left = Signal()  # Esc

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.XS)
        self.field = _Field()
        self.field.setObjectName("logSearch")
        self.field.setPlaceholderText(self.tr("Search the log (Ctrl+F)"))
        self.field.setAccessibleName(self.tr("Search the log"))
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumWidth(140)
        self.count = QLabel()
        self.count.setObjectName("dim")
        self.count.setAccessibleName(self.tr("Lines found"))
        self._previous = arrow_button("logFindPrevious", self.tr("Previous line found"))
        self._next = arrow_button("logFindNext", self.tr("Next line found"))
        self._previous.setToolTip(self.tr("Previous (Shift+F3)"))
        self._next.setToolTip(self.tr("Next (F3)"))
        self.regex = QToolButton()
        self.regex.setObjectName("logRegex")
        self.regex.setText(".*")
        self.regex.setCheckable(True)
        self.regex.setAccessibleName(self.tr("Search with a regular expression"))
        self.regex.setToolTip(self.tr("Read the text as a regular expression"))
        self.regex.toggled.connect(self._on_pause)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.regex)
        layout.addWidget(self.count)
        layout.addWidget(self._previous)
        layout.addWidget(self._next)
        self._pause = QTimer(self)
        self._pause.setObjectName("findPause")
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._on_pause)
        self.field.textChanged.connect(self._on_typed)
        self.field.entered.connect(self._on_entered)
        self.field.left.connect(self.left)
        self._next.clicked.connect(self.next_wanted)
        self._previous.clicked.connect(self.previous_wanted)
        self.show_count("", can_move=False)
        self.restyle()

    @property
    def text(self) -> str:
        """Return what is searched for."""
        return self.field.text()

    @property
    def is_regex(self) -> bool:
        """Tell whether the text is a regular expression."""
        return self.regex.isChecked()

    def show_count(self, text: str, *, can_move: bool) -> None:
        """Say how many lines there are."""
        self.count.setText(text)
        self._next.setEnabled(can_move)
        self._previous.setEnabled(can_move)

    def stop(self) -> None:
        """Search no more for what was being typed."""
        self._pause.stop()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the arrows in the theme's colour."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_next"):
            self.restyle()

    def restyle(self) -> None:
        """Take the icons' colour from the theme."""
        colour = theme.tokens_for(self).text
        self._previous.setIcon(icons.icon("chevron-up", colour, 16))
        self._next.setIcon(icons.icon("chevron-down", colour, 16))

    def _on_typed(self) -> None:
        self._pause.start()

    def _on_pause(self) -> None:
        self.text_changed.emit(self.text)

    def _on_entered(self, is_back: bool) -> None:
        if self._pause.isActive():  # search for what is there now, which also moves
            self._pause.stop()
            self._on_pause()
        elif is_back:
            self.previous_wanted.emit()
        else:
            self.next_wanted.emit()


class _Field(QLineEdit):
    """Tells Enter, Shift+Enter and Esc."""

    entered = Signal(bool)  # with Shift
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


def arrow_button(name: str, text: str) -> QToolButton:
    """Return a small button with room for an icon only."""
    button = QToolButton()
    button.setObjectName(name)
    button.setAccessibleName(text)
    button.setToolTip(text)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setStyleSheet("QToolButton { padding: 6px; } QToolButton:focus { padding: 5px; }")
    return button
