"""Cards in rows of equal width; how many fit into a row follows the width of the page."""

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.ui import theme

_LEAST_WIDTH = 316


class CardGrid(QWidget):
    """Arranges cards so that no row is left nearly empty: four are two rows of two, not 3 + 1."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: tuple[QWidget, ...] = ()
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.M)

    def show_cards(self, cards: Sequence[QWidget]) -> None:
        """Show other cards; the former ones are deleted."""
        for card in self._cards:
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
        self._cards, self._columns = tuple(cards), 0
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put more or fewer cards into a row."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        columns = columns_for(len(self._cards), self.width())
        if columns == self._columns:
            return
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, 0)
        last = len(self._cards) - 1
        for i, card in enumerate(self._cards):
            self._grid.removeWidget(card)
            # the last one takes what is left of its row
            span = columns - i % columns if i == last else 1
            self._grid.addWidget(card, i // columns, i % columns, 1, span)
        for column in range(columns):
            self._grid.setColumnStretch(column, 1)
        self._columns = columns


def columns_for(n_cards: int, width: int) -> int:
    """Return how many cards go into a row of so many pixels, at least 1."""
    most = max(1, (width + theme.M) // (_LEAST_WIDTH + theme.M))
    if n_cards == 0:
        return 1
    rows = -(-n_cards // most)
    return -(-n_cards // rows)
