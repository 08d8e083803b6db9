"""Both words on a load as a Qt model: what was calculated, and what llama.cpp says."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt

from app.core import said as saying
from app.core import units
from app.core.errors import UserError
from app.core.fit_result import FitResult
from app.core.said import Figure, Said
from app.core.units import MIB
from app.ui.models.table import Index, Table

APART_ROLE = Qt.ItemDataRole.UserRole + 3
_COLUMNS = ("Buffer", "Part", "Calculated", "Range", "llama.cpp says", "Difference")
_FIRST_NUMBER, _DIFFERENCE = 2, 5


class SaidModel(Table):
    """Texts for the cells; APART_ROLE is True in a row beyond the tolerance."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_COLUMNS, parent)
        self._figures: tuple[Figure, ...] = ()

    def show_figures(self, figures: tuple[Figure, ...]) -> None:
        """Show other figures; what is nothing on both sides is left out."""
        shown = tuple(f for f in figures if f.n_bytes or f.said_mib)
        if len(shown) != len(self._figures):
            self.beginResetModel()
            self._figures = shown
            self.endResetModel()
            return
        self._figures = shown
        if shown:
            self.dataChanged.emit(self.index(0, 0), self.index(len(shown) - 1, _DIFFERENCE))

    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self._figures)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's title, aligned as its cells are."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return text, alignment, or whether the row is apart."""
        if not index.isValid():
            return None
        figure, column = self._figures[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _texts(figure)[column]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return figure.text
        if role == APART_ROLE:
            return figure.is_apart
        return None


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence, and whether it warns."""

    text: str
    is_warning: bool = False


def _alignment(column: int) -> Qt.AlignmentFlag:
    is_text = column < _FIRST_NUMBER or column == _DIFFERENCE
    side = Qt.AlignmentFlag.AlignLeft if is_text else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _texts(figure: Figure) -> tuple[str, ...]:
    has_range = figure.low_bytes != figure.high_bytes
    low, high = units.mib(figure.low_bytes, 0), units.mib(figure.high_bytes, 0)
    said = "–" if figure.said_mib is None else units.mib(figure.said_mib * MIB, 0)
    if figure.said_mib is None:
        difference = ""
    else:
        difference = "differs" if figure.is_apart else "agrees"
    return (
        figure.buffer,
        figure.part.value,
        units.mib(figure.n_bytes),
        f"{low.removesuffix(' MiB')} to {high}" if has_range else "",
        said,
        difference,
    )


def answer_note(said: Said) -> Note:
    """Return where the answer comes from, and whether anything differs."""
    text = f"{said.source}, {units.seconds(said.seconds)}."
    if said.is_sparse_copy:
        text += " The file is not complete: a sparse copy of its header was asked about."
    if said.differences:
        return Note(f"{saying.TOLERANCE_TEXT} {text}", is_warning=True)
    return Note(f"{saying.AGREES_TEXT} {text}")


def failure_note(error: Exception) -> Note:
    """Return why there is no answer."""
    sentence = error.sentence() if isinstance(error, UserError) else f"Asking failed: {error}"
    return Note(sentence, is_warning=True)


def fit_text(result: FitResult) -> str:
    """Return in one line what llama.cpp would choose by itself."""
    if result.not_calculated:
        return f"llama.cpp by itself (--fit): not calculated. {result.not_calculated}"
    text = f"{result.layers} of {result.layers_total} layers, context {units.count(result.ctx)}"
    if result.tensor_split:
        text += f", split {','.join(f'{share:g}' for share in result.tensor_split)}"
    if result.partial_blocks:
        text += f", with parts of blocks {result.partial_range} in system memory"
    if result.refused:
        return f"llama.cpp by itself (--fit) refuses: {result.refused}. It then loads {text}."
    if not result.is_a_number:
        text += "; on several devices no -ngl and -ncmoe say the same, so leave both out for this"
    return f"llama.cpp by itself (--fit) would load {text}."


def fit_tip(result: FitResult) -> str:
    """Return its steps, each with the line that its log shows."""
    steps = [f"{step.text}\n    {step.log_line}" for step in result.steps]
    return "\n".join((*steps, "Calculated by the rules of common/fit.cpp, build 11434."))
