"""The table of facts: as tall as its rows, so that only the page scrolls."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QScrollArea,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.core.machine import MachineFact
from app.ui import theme
from app.ui.models.hardware_model import COLUMNS, MISSING_ROLE, FactGroup, FactModel, fact_text

_WIDTHS = (190, 0, 280, 100)  # 0: takes what is left
_ROW, _HEADING_ROW = 26, 36
_PADDING = 22  # of a cell, left and right together, with the style's own margin
_MARGIN = 60  # seen above and below the current row
Index = QModelIndex | QPersistentModelIndex


class FactTable(QTreeView):
    """Shows facts under their headings; long reasons wrap."""

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
        self.setWordWrap(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
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
        header.sectionResized.connect(self._fit)

    def show_groups(self, groups: tuple[FactGroup, ...]) -> None:
        """Show other facts, all headings open."""
        self._model.show_groups(groups)
        self.expandAll()
        for row in range(len(groups)):
            self.setFirstColumnSpanned(row, QModelIndex(), True)
        self._fit()

    def current_fact(self) -> MachineFact | None:
        """Return the fact of the current row."""
        return self._model.fact(self.currentIndex())

    def scrollTo(
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Scroll the page to a row, as the table itself shows all of its rows."""
        super().scrollTo(index, hint)
        page = self.parent()
        while page is not None and not isinstance(page, QScrollArea):
            page = page.parent()
        content = page.widget() if page is not None else None
        if page is not None and content is not None:
            middle = self.visualRect(index).center()
            at = self.viewport().mapTo(content, middle)
            page.ensureVisible(0, at.y(), 0, _MARGIN)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the current fact with the usual key."""
        fact = self.current_fact()
        if fact is not None and event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(fact_text(fact))
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap anew in another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        """Take the height of all rows: the page scrolls, not the table."""
        self.doItemsLayout()
        height = self.header().sizeHint().height() + 2 * theme.XS
        for row in range(self._model.rowCount()):
            heading = self._model.index(row, 0)
            height += self.rowHeight(heading)
            height += sum(
                self.rowHeight(self._model.index(i, 0, heading))
                for i in range(self._model.rowCount(heading))
            )
        self.setFixedHeight(height)


class _Delegate(QStyledItemDelegate):
    """Gives rows their height, and the quiet colour to what is missing or only a source."""

    def __init__(self, table: QTreeView) -> None:
        super().__init__(table)
        self._table = table

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height that a wrapped text needs; QTreeView does not pass the width on."""
        if not index.parent().isValid():
            return QSize(0, _HEADING_ROW)
        width = self._table.columnWidth(index.column()) - _PADDING
        text = str(index.data() or "")
        # paths have no spaces: they wrap anywhere
        flags = Qt.TextFlag.TextWordWrap | Qt.TextFlag.TextWrapAnywhere
        room = QRect(0, 0, max(width, 1), 10_000)
        needed = option.fontMetrics.boundingRect(room, flags, text)
        return QSize(0, max(_ROW, needed.height() + _ROW - option.fontMetrics.height()))

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Set the quiet colour."""
        super().initStyleOption(option, index)
        if not index.parent().isValid():
            return
        option.displayAlignment = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft
        is_quiet = index.column() >= COLUMNS.index("Source")
        if is_quiet or index.data(MISSING_ROLE):
            dim = theme.tokens_for(self._table).dim
            option.palette.setColor(QPalette.ColorRole.Text, dim)
