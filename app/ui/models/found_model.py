"""The models found on this computer, with size, place and what fits, as a Qt model."""

from PySide6.QtCore import QObject, Qt

from app.core import units
from app.core.errors import UserError
from app.core.fit_table import Cell
from app.core.machine import FoundModel
from app.ui.models.fit_model import VERDICT_ROLE, cell_text, cell_tip
from app.ui.models.table import Index, Table
from app.work.model_finder import is_whole

PATH_ROLE = Qt.ItemDataRole.UserRole + 2
# of a projector or a part of a model nothing can be said by itself
_COLUMNS = ("Model", "Size", "Found in", "With 4,096 tokens")


class FoundModels(Table):
    """Grows verdicts one by one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_COLUMNS, parent)
        self._models: tuple[FoundModel, ...] = ()
        self._verdicts: dict[str, Cell | UserError] = {}

    def show_models(self, models: tuple[FoundModel, ...]) -> None:
        """Show another list."""
        self.beginResetModel()
        self._models, self._verdicts = models, {}
        self.endResetModel()

    def set_verdict(self, path: str, verdict: Cell | UserError) -> None:
        """Add what fits of one model."""
        self._verdicts[path] = verdict
        for row, model in enumerate(self._models):
            if model.path == path:
                cell = self.index(row, len(_COLUMNS) - 1)
                self.dataChanged.emit(cell, cell)

    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self._models)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a text, the path, or the verdict."""
        if not index.isValid():
            return None
        model = self._models[index.row()]
        verdict = self._verdicts.get(model.path)
        is_verdict = index.column() == len(_COLUMNS) - 1
        if role == PATH_ROLE:
            return model.path
        if role == Qt.ItemDataRole.DisplayRole:
            if is_verdict:
                return _verdict_text(verdict) if is_whole(model) else "–"
            return (_title(model), units.size(model.n_bytes), model.source)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            if is_verdict and is_whole(model):
                return _verdict_tip(verdict)
            return "\n".join(text for text in (_what(model), model.path) if text)
        if role == VERDICT_ROLE and is_verdict and isinstance(verdict, Cell):
            return verdict.verdict
        return None


def _title(model: FoundModel) -> str:
    word = _what(model).partition(":")[0]
    return f"{model.title} ({word})" if word else model.title


def _what(model: FoundModel) -> str:
    """Return what is special about a file, "" for a model as any other."""
    if model.n_parts < model.n_parts_expected:
        return (
            f"incomplete: {model.n_parts} of {model.n_parts_expected} parts are there, llama.cpp "
            "needs them all in one folder"
        )
    if model.is_projector:
        return "projector: the eyes or ears of the model beside it, for --mmproj"
    if model.is_draft:
        return "draft: it guesses for a larger model, for -md"
    return ""


def _verdict_text(verdict: Cell | UserError | None) -> str:
    if verdict is None:
        return "…"
    return cell_text(verdict) if isinstance(verdict, Cell) else "cannot be read"


def _verdict_tip(verdict: Cell | UserError | None) -> str:
    if verdict is None:
        return "Not calculated yet"
    return cell_tip(verdict) if isinstance(verdict, Cell) else verdict.sentence()
