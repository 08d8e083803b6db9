"""The models found on this computer, to choose one from."""

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app.core.errors import UserError
from app.core.fit_table import Cell
from app.runtimes.models import Found
from app.ui import choose, theme
from app.ui.models.found_model import PATH_ROLE, FoundModels
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.verdict_delegate import VerdictDelegate


class ModelsCard(Card):
    """Shows the list; Enter or a double click chooses a model."""

    chosen = Signal(str)
    folder_added = Signal(str)
    folder_removed = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, with_folders: bool = False) -> None:
        """Make the card; with_folders: more folders can be chosen here."""
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
        self._add = QPushButton(self.tr("Look into a folder…"))
        self._add.setObjectName("addModelFolder")
        self._add.setAccessibleName(self.tr("Choose a folder to look for models in"))
        self._add.clicked.connect(self._on_add)
        self.head.addWidget(self._add)
        self._add.setVisible(with_folders)
        self._with_folders = with_folders
        self._folders = QVBoxLayout()
        self._folders.setSpacing(theme.S)
        self.body.addWidget(self._note)
        self.body.addLayout(self._folders)
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
        self._show_folders(found.folders)

    def show_verdict(self, path: str, verdict: Cell | UserError) -> None:
        """Add what fits of one model."""
        self._model.set_verdict(path, verdict)

    def _show_folders(self, folders: tuple[str, ...]) -> None:
        while (item := self._folders.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for number, folder in enumerate(folders if self._with_folders else ()):
            self._folders.addWidget(self._folder_row(number, folder))

    def _folder_row(self, number: int, folder: str) -> QWidget:
        remove = QPushButton(self.tr("Remove"))
        remove.setObjectName(f"removeModelFolder{number}")
        remove.setAccessibleName(self.tr("Do not look into {} any more").format(folder))
        remove.clicked.connect(lambda: self.folder_removed.emit(folder))
        widget = QWidget()
        row = QHBoxLayout(widget)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.S)
        row.addWidget(remove)
        row.addWidget(dim_label(self.tr("also looks into {}").format(folder), wrap=False))
        row.addStretch(1)
        return widget

    def _on_add(self) -> None:
        folder = choose.folder(self, self.tr("Choose a folder with GGUF files"))
        if folder:
            self.folder_added.emit(folder)

    def _on_activated(self, index: QModelIndex) -> None:
        self.chosen.emit(index.data(PATH_ROLE))
