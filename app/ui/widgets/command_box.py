"""A command to copy, in the fixed font, with its button."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.ui import icons, theme
from app.ui.widgets.fixed_text import FixedText


class CommandBox(QWidget):
    """Shows one command; the button copies it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        self._text = FixedText(name, has_focus=True)
        self._text.setAccessibleName(self.tr("Command"))
        self._copy = QPushButton(self.tr("Copy"))
        self._copy.setObjectName(f"{name}Copy")
        self._copy.setAccessibleName(self.tr("Copy the command"))
        self._draw_icon()
        self._copy.clicked.connect(self._on_copy)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._copy)

    def text(self) -> str:
        """Return the command."""
        return self._text.text()

    def show_command(self, command: str, source: str = "") -> None:
        """Show another command."""
        self._text.setPlainText(command)
        self._text.setToolTip(source)
        self._copy.setText(self.tr("Copy"))

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_copy"):
            self._draw_icon()

    def _draw_icon(self) -> None:
        self._copy.setIcon(icons.icon("copy", theme.tokens_for(self).text, 14))

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text.text())
        self._copy.setText(self.tr("Copied"))
