"""An icon in a colour of the theme; it follows when the theme changes."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.ui import icons, theme


class IconLabel(QLabel):
    """Shows one icon; role is a colour of theme.Tokens."""

    def __init__(
        self, name: str = "", role: str = "dim", size: int = 20, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name, self._role, self._size = name, role, size
        self.setFixedSize(size, size)
        self._draw()

    @property
    def name(self) -> str:
        """Return the icon that is shown, "" = none."""
        return self._name

    def show_icon(self, name: str, role: str) -> None:
        """Show another icon, "" = none."""
        self._name, self._role = name, role
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw again in the new theme's colour."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_name"):
            self._draw()

    def _draw(self) -> None:
        if not self._name:
            self.clear()
            return
        colour = getattr(theme.tokens_for(self), self._role)
        self.setPixmap(icons.pixmap(self._name, colour, self._size, self.devicePixelRatioF()))
