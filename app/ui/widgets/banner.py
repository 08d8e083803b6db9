"""A line above the page for an error: what went wrong, the detail, what to do."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.core.errors import UserError
from app.ui import theme
from app.ui.widgets.icon_label import IconLabel


class Banner(QFrame):
    """Stays until it is closed; a new error takes the place of the old one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.XXL, theme.M, theme.XXL, theme.M)
        layout.setSpacing(theme.M)
        self._icon = IconLabel("circle-x", "error", 20)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        self._title = QLabel()
        self._title.setObjectName("errorText")
        self._title.setStyleSheet("font-weight: 600;")
        self._title.setWordWrap(True)
        self._detail = QLabel()
        self._detail.setObjectName("bannerDetail")
        self._detail.setWordWrap(True)
        texts.addWidget(self._title)
        texts.addWidget(self._detail)
        close = QPushButton(self.tr("Close"))
        close.setObjectName("bannerClose")
        close.setAccessibleName(self.tr("Close the message"))
        close.clicked.connect(self.hide)
        layout.addWidget(self._icon)
        layout.addLayout(texts, 1)
        layout.addWidget(close)
        self.hide()

    def show_error(self, error: UserError) -> None:
        """Show an error in words."""
        tokens = theme.tokens_for(self)
        self._title.setText(error.title)
        self._detail.setText(error.rest())
        self._detail.setVisible(bool(self._detail.text()))
        self.setStyleSheet(
            f"QFrame#banner {{ background: {tokens.raised};"
            f" border-bottom: 2px solid {tokens.error}; }}"
        )
        self.setAccessibleName(error.sentence())
        self.show()

    def text(self) -> str:
        """Return what is shown, "" when nothing is."""
        return f"{self._title.text()} {self._detail.text()}" if self.isVisible() else ""
