"""A list whose first lines are shown, and the rest behind a button that says how many there are."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.ui.widgets.card import Card, dim_label


class FoldedList(Card):
    """Shows lines; those that matter less can be opened and closed again."""

    def __init__(self, title: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._more = self.tr("Show {} more")
        self._first, self._rest = dim_label(), dim_label()
        self._first.setObjectName(name)
        self._rest.setObjectName(f"{name}More")
        self._button = QPushButton()
        self._button.setObjectName(f"{name}Toggle")
        self._button.setCheckable(True)
        self._button.setAccessibleName(title)
        self._button.toggled.connect(self._on_toggled)
        self.body.addWidget(self._first)
        self.body.addWidget(self._rest)
        self.body.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)
        self._n_rest = 0

    def show_lines(self, first: tuple[str, ...], rest: tuple[str, ...]) -> None:
        """Show other lines; the rest is closed again."""
        self._first.setText("\n".join(first))
        self._first.setVisible(bool(first))
        self._rest.setText("\n".join(rest))
        self._n_rest = len(rest)
        self._button.setVisible(bool(rest))
        self._button.setChecked(False)
        self._on_toggled(False)
        self.setVisible(bool(first or rest))

    def _on_toggled(self, is_open: bool) -> None:
        self._rest.setVisible(is_open)
        self._button.setText(self.tr("Show fewer") if is_open else self._more.format(self._n_rest))
