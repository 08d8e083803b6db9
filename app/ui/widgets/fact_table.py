"""The table of facts: as tall as its rows, so that only the page scrolls."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.core.machine import MachineFact
from app.ui import theme
from app.ui.models.hardware_model import COLUMNS, MISSING_ROLE, FactGroup, FactModel, fact_text

_WIDTHS = (250, 0, 250, 110)  # 0: takes what is left
_ROW = 28


class FactTable(QTreeView):
    """Shows facts under their headings; emits the fact of the current row."""

    fact_chosen = Signal(object)  # a MachineFact, None for a heading

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("factTable")
        self.setAccessibleName(self.tr("All facts"))
        self._model = FactModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_Delegate(self))
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setIndentation(0)
        self.setUniformRowHeights(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(60)
        for column, width in enumerate(_WIDTHS):
            if width:
                header.resizeSection(column, width)
            else:
                header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self.selectionModel().currentChanged.connect(self._on_current)

    def show_groups(self, groups: tuple[FactGroup, ...]) -> None:
        """Show other facts, all headings open."""
        self._model.show_groups(groups)
        self.expandAll()
        for row in range(len(groups)):
            self.setFirstColumnSpanned(row, QModelIndex(), True)
        n_rows = sum(1 + len(group.facts) for group in groups)
        self.setFixedHeight(self.header().sizeHint().height() + n_rows * _ROW + 2 * theme.XS)
        self.fact_chosen.emit(None)

    def current_fact(self) -> MachineFact | None:
        """Return the fact of the current row."""
        return self._model.fact(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the current fact with the usual key."""
        fact = self.current_fact()
        if fact is not None and event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(fact_text(fact))
            return
        super().keyPressEvent(event)

    def _on_current(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.fact_chosen.emit(self._model.fact(current))


class _Delegate(QStyledItemDelegate):
    """Gives rows their height, and the quiet colour to what is missing or only a source."""

    def __init__(self, table: QTreeView) -> None:
        super().__init__(table)
        self._table = table

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return one height for all rows."""
        size = super().sizeHint(option, index)
        size.setHeight(_ROW)
        return size

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Set the quiet colour."""
        super().initStyleOption(option, index)
        is_source = index.column() == COLUMNS.index("Source")
        if is_source or index.data(MISSING_ROLE):
            dim = theme.tokens_for(self._table).dim
            option.palette.setColor(QPalette.ColorRole.Text, dim)
