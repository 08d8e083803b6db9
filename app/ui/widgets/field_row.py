"""Settings beside each other; where the page is narrow they take two rows or more."""

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.ui import theme


class FieldRow(QWidget):
    """Arranges fields in columns of equal width, in as few rows as their texts allow."""

    def __init__(self, fields: Sequence[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fields = tuple(fields)
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.M)
        self._arrange(len(fields))

    def minimumSizeHint(self) -> QSize:
        """Ask for the width of one field: the others go below it."""
        return QSize(self._widest(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take more or fewer rows."""
        super().resizeEvent(event)
        most = (self.width() + theme.M) // (self._widest() + theme.M)
        rows = -(-len(self._fields) // max(1, most))
        self._arrange(-(-len(self._fields) // rows))

    def _widest(self) -> int:
        return max(field.minimumSizeHint().width() for field in self._fields)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        for i, field in enumerate(self._fields):
            self._grid.removeWidget(field)
            self._grid.addWidget(field, i // columns, i % columns)
        for column in range(len(self._fields)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self._columns = columns
