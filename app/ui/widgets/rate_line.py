"""A card of one line: a rate with its range, and what it rests on."""

from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from app.ui import theme
from app.ui.widgets.card import Card


class RateLine(Card):
    """Shows a title, a figure with its unit, and its range; the source is on hover."""

    def __init__(self, title: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setAccessibleName(title)
        heading = QLabel(title)
        heading.setObjectName("cardTitle")
        self._value = QLabel("–")
        self._value.setObjectName(name)
        self._value.setStyleSheet("font-size: 17px; font-weight: 600;")
        self._caption = QLabel()
        self._caption.setObjectName("caption")
        self._caption.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        row.addWidget(heading)
        row.addWidget(self._value)
        row.addWidget(self._caption, 1)
        self.body.setContentsMargins(theme.L, theme.S, theme.L, theme.S)
        self.body.addLayout(row)
        self._caption.setMinimumHeight(2 * self._caption.fontMetrics().lineSpacing())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_value(self, value: str, caption: str, source: str) -> None:
        """Show a figure; the whole card tells its source on hover."""
        self._value.setText(value)
        self._caption.setText(caption)
        self.setToolTip(source)
        self.setAccessibleDescription(f"{value}. {caption}")
