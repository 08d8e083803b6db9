"""The card with both words on a load, and what llama.cpp would choose by itself."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.core.fit_result import FitResult
from app.core.said import Figure
from app.ui import theme
from app.ui.models import said_model
from app.ui.models.said_model import APART_ROLE, Note, SaidModel
from app.ui.widgets.card import Card, dim_label

_ROW = 26


class SaidCard(Card):
    """Shows figures side by side; the button asks, a second one takes over the position."""

    asked = Signal()
    stopped = Signal()
    taken = Signal(int)  # n_gpu_layers

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Calculated here, and what llama.cpp itself says"), parent)
        self._is_asking = False
        self._fit_ngl = 0
        self._button = QPushButton(self.tr("Ask llama.cpp"))
        self._button.setObjectName("askLlama")
        self._button.clicked.connect(self._on_button)
        self.head.addWidget(self._button)
        self._model = SaidModel(self)
        self._table = self._make_table()
        self._note = dim_label()
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        self._fit = dim_label()
        self._take = QPushButton(self.tr("Use this"))
        self._take.setObjectName("takeFit")
        self._take.hide()
        self._take.clicked.connect(lambda: self.taken.emit(self._fit_ngl))
        row.addWidget(self._fit, 1)
        row.addWidget(self._take)
        self.body.addWidget(self._table)
        self.body.addWidget(self._note)
        self.body.addLayout(row)

    def show_figures(self, figures: tuple[Figure, ...]) -> None:
        """Show other figures."""
        self._model.show_figures(figures)
        height = self._table.horizontalHeader().sizeHint().height()
        self._table.setFixedHeight(height + _ROW * self._model.n_rows() + 2)

    def show_note(self, note: Note) -> None:
        """Show what to know about the answer."""
        self._note.setObjectName("warningText" if note.is_warning else "dim")
        self._note.style().polish(self._note)
        self._note.setText(note.text)
        self._table.setAccessibleDescription(note.text)

    def show_asking(self, is_asking: bool, *, can_ask: bool = True) -> None:
        """Show whether a program is being asked; without a program the button is off."""
        self._is_asking = is_asking
        self._button.setText(self.tr("Stop") if is_asking else self.tr("Ask llama.cpp"))
        self._button.setEnabled(can_ask or is_asking)

    def show_fit(self, result: FitResult) -> None:
        """Show what llama.cpp would choose."""
        self._fit_ngl = result.layers
        self._fit.setText(said_model.fit_text(result))
        self._fit.setToolTip(said_model.fit_tip(result))
        self._take.setVisible(not result.not_calculated)

    def forget_fit(self) -> None:
        """Show nothing of what llama.cpp would choose until it is known again."""
        self._fit.setText(self.tr("Trying what llama.cpp would choose…"))
        self._fit.setToolTip("")
        self._take.hide()

    @property
    def note(self) -> str:
        """Return the sentence below the table."""
        return self._note.text()

    @property
    def fit(self) -> str:
        """Return the line about --fit."""
        return self._fit.text()

    def _on_button(self) -> None:
        (self.stopped if self._is_asking else self.asked).emit()

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("saidTable")
        table.setAccessibleName(self.tr("Calculated and said by llama.cpp, per buffer"))
        table.setModel(self._model)
        table.setItemDelegate(_Delegate(table))
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(_ROW)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setHighlightSections(False)
        return table


class _Delegate(QStyledItemDelegate):
    """Draws a row that differs in the colour of a warning; its word says so too."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Colour the text."""
        super().initStyleOption(option, index)
        if index.data(APART_ROLE):
            warning = QColor(theme.tokens_for(option.widget).warning)
            option.palette.setColor(QPalette.ColorRole.Text, warning)
            option.font.setBold(True)
