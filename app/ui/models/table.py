"""What the read-only tables have in common: columns with titles, rows of values."""

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex


class Table(QAbstractTableModel):
    """A table of fixed columns; a subclass keeps the rows and gives the cells."""

    def __init__(self, columns: tuple[str, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns = columns

    def n_rows(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of rows."""
        return 0 if parent.isValid() else self.n_rows()

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's title."""
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            return self._columns[section]
        return None
