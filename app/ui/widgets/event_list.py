"""The list of limits that were reached, beside the live charts."""

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.ui import icons, theme
from app.ui.models.event_model import EventModel, EventRow
from app.ui.widgets.card import dim_label

_ROW, _MOST_ROWS, _ICON = 24, 4, 16


class EventList(QWidget):
    """Shows the newest first; one line says so while there is none."""

    def __init__(self, name: str, none: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = EventModel(self)
        self._none = dim_label(none)
        self._view = QListView()
        self._view.setObjectName(name)
        self._view.setAccessibleName(self.tr("Limits that were reached"))
        self._view.setFrameShape(QFrame.Shape.NoFrame)
        self._view.setUniformItemSizes(True)
        # the rows begin where the card's other texts do
        self._view.setStyleSheet("QListView::item { padding: 2px 0px; }")
        self._view.setIconSize(QSize(_ICON, _ICON))
        self._view.setModel(self.model)
        self._delegate = _Delegate(self._view)
        self._view.setItemDelegate(self._delegate)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._none)
        layout.addWidget(self._view)
        self.model.rowsInserted.connect(self._fit)
        self.model.modelReset.connect(self._fit)
        self._fit()

    def add(self, row: EventRow) -> None:
        """Put an event first."""
        self.model.add(row)
        self._view.scrollToTop()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the marks in the colours of the theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._delegate.forget()
            self._view.viewport().update()

    def _fit(self) -> None:
        count = self.model.rowCount()
        self._none.setVisible(not count)
        self._view.setVisible(bool(count))
        self._view.setFixedHeight(min(count, _MOST_ROWS) * _ROW)


class _Delegate(QStyledItemDelegate):
    """Puts a sign before each row: a triangle for a limit that slows, an i for a normal one."""

    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view
        self._icons: dict[bool, QIcon] = {}

    def forget(self) -> None:
        """Make the icons anew."""
        self._icons = {}

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(super().sizeHint(option, index).width(), _ROW)

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Add the sign."""
        super().initStyleOption(option, index)
        is_normal = bool(index.data(EventModel.NORMAL_ROLE))
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        option.icon = self._icon(is_normal)
        option.decorationSize = QSize(_ICON, _ICON)

    def _icon(self, is_normal: bool) -> QIcon:
        if is_normal not in self._icons:
            tokens = theme.tokens_for(self._view)
            name, colour = ("info", tokens.dim) if is_normal else ("triangle-alert", tokens.error)
            self._icons[is_normal] = icons.icon(name, colour, _ICON)
        return self._icons[is_normal]
