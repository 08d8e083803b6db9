"""A button whose menu has an entry to check for each of several things."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QWidget


class CheckMenu(QPushButton):
    """Emits `changed` when an entry is checked or not; one at least stays checked."""

    changed = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._menu = QMenu(self)
        self._actions: dict[str, QAction] = {}
        self.setMenu(self._menu)
        self._menu.triggered.connect(self._on_triggered)

    def set_entries(self, entries: tuple[tuple[str, str], ...]) -> None:
        """Offer (id, text) entries; those that were left out stay so, others start checked."""
        left_out = {one for one, action in self._actions.items() if not action.isChecked()}
        self._menu.clear()
        self._actions = {}
        for one, text in entries:
            action = self._menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(one not in left_out)
            self._actions[one] = action
        if entries and not self.checked:
            for action in self._actions.values():
                action.setChecked(True)
        self._show()

    @property
    def checked(self) -> tuple[str, ...]:
        """Return the ids that are checked, in the order of the entries."""
        return tuple(one for one, action in self._actions.items() if action.isChecked())

    def _on_triggered(self, action: QAction) -> None:
        if not self.checked:
            action.setChecked(True)
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        self.setText(", ".join(self.checked))
        self.setToolTip("\n".join(a.text() for a in self._actions.values() if a.isChecked()))
