"""The best position in a sentence, with a button that takes it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.ui import theme
from app.ui.widgets.card import dim_label


class BestRow(QWidget):
    """Emits `taken` when the offer is wanted."""

    taken = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.M)
        self._text = dim_label()
        self._text.setObjectName("bestText")
        self._take = QPushButton(self.tr("Use the best"))
        self._take.setObjectName("takeBest")
        self._take.clicked.connect(self.taken)
        row.addWidget(self._text, 1)
        row.addWidget(self._take)
        self.show_text("")

    def show_text(self, text: str, *, is_offer: bool = False) -> None:
        """Show an offer, or why there is none."""
        self._text.setText(text)
        self._take.setVisible(is_offer)
