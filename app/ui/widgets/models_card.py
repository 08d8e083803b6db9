"""The models found on this computer, to choose one from."""

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.core.errors import UserError
from app.core.fit_table import Cell
from app.runtimes.models import Found
from app.ui.models.found_model import PATH_ROLE, FoundModels
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.verdict_delegate import VerdictDelegate


class ModelsCard(Card):
    """Shows the list; Enter or a double click chooses a model."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Models on this computer"), parent)
        self._model = FoundModels(self)
        self._table = QTableView()
        self._table.setObjectName("foundModels")
        self._table.setAccessibleName(self.tr("Models on this computer"))
        self._table.setModel(self._model)
        self._table.setItemDelegate(VerdictDelegate(self._table))
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setShowGrid(False)
        self._table.setTabKeyNavigation(False)
        self._table.verticalHeader().hide()
        self._table.verticalHeader().setDefaultSectionSize(34)
        header = self._table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._table.setFixedHeight(190)
        self._table.activated.connect(self._on_activated)
        self._note = dim_label(self.tr("Looking…"))
        self._note.setObjectName("foundNote")
        self.body.addWidget(self._note)
        self.body.addWidget(self._table)
        self._table.hide()

    def show_found(self, found: Found) -> None:
        """Show what was found; nothing is a normal result."""
        self._model.show_models(found.models)
        self._table.setVisible(bool(found.models))
        text = (
            self.tr("Double-click one to choose it.")
            if found.models
            else self.tr(
                "None in the folders of llama.cpp, Ollama, LM Studio, Jan, GPT4All and the "
                "Hugging Face cache. Drop a file, or use Open."
            )
        )
        self._note.setText(" ".join((text, *found.notes)))

    def show_verdict(self, path: str, verdict: Cell | UserError) -> None:
        """Add what fits of one model."""
        self._model.set_verdict(path, verdict)

    def _on_activated(self, index: QModelIndex) -> None:
        self.chosen.emit(index.data(PATH_ROLE))
