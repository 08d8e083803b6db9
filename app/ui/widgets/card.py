"""Cards: a framed surface with a title, and the card of one large number."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.widgets.short_label import ShortLabel


class Card(QFrame):
    """A surface with an optional title; add content to `body`."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(theme.L, theme.L, theme.L, theme.L)
        self.body.setSpacing(theme.S)
        self.head = QHBoxLayout()
        self.head.setSpacing(theme.S)
        if title:
            self._title: QLabel = ShortLabel(title)
            self._title.setObjectName("cardTitle")
            self.head.addWidget(self._title)
            self.head.addStretch(1)
            self.body.addLayout(self.head)

    def set_title(self, title: str) -> None:
        """Change the title of a card that has one."""
        self._title.setText(title)


class NumberCard(Card):
    """One large number with its name above and two lines of caption below."""

    def __init__(self, title: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.value = QLabel("–")
        self.value.setObjectName(name)
        self.value.setFont(theme.number_font(self.font(), 34))
        # a style sheet on the application would set the size back to the text's
        self.value.setStyleSheet("font-size: 34px; font-weight: 600;")
        self.caption = QLabel()
        self.caption.setObjectName("caption")
        self.caption.setWordWrap(True)
        self.caption.setAlignment(Qt.AlignmentFlag.AlignTop)
        # two lines always, so that the numbers of a row keep one baseline
        self.caption.setFixedHeight(2 * self.caption.fontMetrics().lineSpacing() + theme.XS)
        self.body.setContentsMargins(theme.L, theme.M, theme.L, theme.S)
        self.body.setSpacing(2)
        self.body.addWidget(self.value)
        self.body.addWidget(self.caption)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_value(self, value: str, caption: str, source: str) -> None:
        """Show a number with unit, what it means, and on hover where it comes from."""
        self.value.setText(value)
        self.value.setToolTip(source)
        self.caption.setText(caption)
        self.caption.setToolTip(source)
        self.setAccessibleDescription(f"{value}. {caption}")


def dim_label(text: str = "", *, wrap: bool = True) -> QLabel:
    """Return a label in the quiet colour."""
    label = QLabel(text)
    label.setObjectName("dim")
    label.setWordWrap(wrap)
    return label
