"""The list of limits that were reached, each with its time, for a view."""

from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

_MOST = 200
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class EventRow:
    """One limit: when it began to bite, in words, and what happened."""

    when: str
    text: str
    is_normal: bool = False


class EventModel(QAbstractListModel):
    """Rows from the newest to the oldest."""

    NORMAL_ROLE = Qt.ItemDataRole.UserRole + 1

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[EventRow] = []

    @property
    def rows(self) -> tuple[EventRow, ...]:
        """Return the rows, the newest first."""
        return tuple(self._rows)

    def add(self, row: EventRow) -> None:
        """Put a row first, and let go of the oldest of very many."""
        self.beginInsertRows(QModelIndex(), 0, 0)
        self._rows.insert(0, row)
        self.endInsertRows()
        if len(self._rows) > _MOST:
            self.beginRemoveRows(QModelIndex(), _MOST, len(self._rows) - 1)
            del self._rows[_MOST:]
            self.endRemoveRows()

    def show_rows(self, rows: tuple[EventRow, ...]) -> None:
        """Show other rows, given in the order to show."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a row, with its time in front; on hover too, where it may be cut."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return f"{row.when}   {row.text}"
        return row.is_normal if role == self.NORMAL_ROLE else None
