"""The Fit table as a Qt model: a row per quantisation and cache type, a column per context."""

from collections.abc import Iterable, Iterator
from itertools import islice

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.core import units
from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.fit_table import THIS_FILE, Cell, FitRow, Verdict

FIRST_ROWS = 3
Index = QModelIndex | QPersistentModelIndex
VERDICT_ROLE = Qt.ItemDataRole.UserRole + 1

_FIRST = ("Quantisation", "Cache", "Weights", "Whole up to", "Loads up to")
_TIPS = (
    "How the weights are stored",
    "Type of K and V in the cache",
    "Bytes of all tensors",
    "Largest context in tokens with every layer on the devices",
    "Largest context in tokens that loads at all, with the system memory's help",
)
_CONTEXT_TIP = "Context in tokens, for all slots together"
_WORDS = {
    Verdict.WHOLE: "whole",
    Verdict.HOST: "host only",
    Verdict.NO: "no",
    Verdict.UNKNOWN: "not known",
}


class FitModel(QAbstractTableModel):
    """Texts for the cells; VERDICT_ROLE gives the Verdict for colour and shape."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[FitRow, ...] = ()

    def show_rows(self, rows: tuple[FitRow, ...]) -> None:
        """Show another table."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row(self, number: int) -> FitRow:
        """Return the core's row behind a row of the table."""
        return self._rows[number]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of columns."""
        if parent.isValid() or not self._rows:
            return 0
        return len(_FIRST) + len(self._rows[0].cells)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's title."""
        if orientation is not Qt.Orientation.Horizontal or not self._rows:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (*_FIRST, *(units.count(cell.ctx) for cell in self._rows[0].cells))[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            tips = (*_TIPS, *(_CONTEXT_TIP for _ in self._rows[0].cells))
            return tips[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return text, tooltip, alignment or verdict of a cell."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        cell = self._cell(row, column)
        if role == Qt.ItemDataRole.DisplayRole:
            return cell_text(cell) if cell else self._plain(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell_tip(cell) if cell else row_tip(row)
        if role == VERDICT_ROLE:
            return cell.verdict if cell else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            middle = Qt.AlignmentFlag.AlignVCenter
            if column == 0:
                return Qt.AlignmentFlag.AlignLeft | middle
            return (Qt.AlignmentFlag.AlignRight | middle) if cell is None else middle
        return None

    def _cell(self, row: FitRow, column: int) -> Cell | None:
        i = column - len(_FIRST)
        return row.cells[i] if 0 <= i < len(row.cells) else None

    def _plain(self, row: FitRow, column: int) -> str:
        return (
            _name(row),
            row.cache_type,
            units.size(row.weights_bytes),
            units.count(row.largest_whole_ctx) if row.largest_whole_ctx else "–",
            units.count(row.largest_ctx) if row.largest_ctx else "–",
        )[column]


def _name(row: FitRow) -> str:
    """Return the quantisation, and whether it is the file's; a file may not tell its own."""
    if not row.is_file or row.file_type == THIS_FILE:
        return row.file_type
    return f"{row.file_type}, {THIS_FILE}"


def first_of(rows: Iterator[FitRow], cancel: Cancel) -> tuple[FitRow, ...]:
    """Return the rows to show while the others are calculated; the iterator goes on from there."""
    return collect(islice(rows, FIRST_ROWS), cancel)


def collect(rows: Iterable[FitRow], cancel: Cancel) -> tuple[FitRow, ...]:
    """Return all rows of the iterator, or stop between two when cancelled."""
    found = []
    for row in rows:
        cancel.check()
        found.append(row)
    return tuple(found)


def failure(error: Exception) -> str:
    """Return why there is no table."""
    return error.sentence() if isinstance(error, UserError) else f"The table failed: {error}"


_LONG = {
    Verdict.WHOLE: "Every layer fits on the devices",
    Verdict.LAYERS: "So many layers fit on the devices, the others stay in system memory",
    Verdict.HOST: "No layer fits on a device; it loads into system memory",
    Verdict.NO: "It does not fit, not even with the system memory",
}


def cell_text(cell: Cell) -> str:
    """Return the verdict in words."""
    if cell.verdict is Verdict.LAYERS:
        return f"{cell.ngl} of {cell.layers_total}"
    return _WORDS[cell.verdict]


def cell_tip(cell: Cell) -> str:
    """Return what is needed, and the rule of the verdict."""
    if cell.verdict is Verdict.UNKNOWN:
        return cell.reason
    text = f"{_LONG[cell.verdict]}.\n" + (
        f"Devices {units.size(cell.device_bytes)}, system memory {units.size(cell.host_bytes)}, "
        f"of both the context takes {units.size(cell.context_bytes)}.\n"
        "Calculated from the header; 1024 MiB stay free on each device (--fit-target's default)."
    )
    if cell.kept:
        text += f"\nOf these {cell.kept}"
    if cell.n_cpu_moe:
        text += f"\nOr all layers with --n-cpu-moe {cell.n_cpu_moe}."
    return f"{text}\n{cell.reason}" if cell.reason else text


def row_tip(row: FitRow) -> str:
    """Return where a row's bytes come from."""
    if row.is_file:
        return "The file as it is: bytes of its own tensors."
    return (
        "What this model would weigh: its tensors re-typed by the rules of llama.cpp's quantiser "
        "(build 11434, no importance matrix)."
    )


def sentence(rows: tuple[FitRow, ...]) -> str:
    """Return the answer about the file itself in one sentence."""
    own = next((row for row in rows if row.is_file), None)
    if own is None:
        return ""
    if own.largest_whole_ctx:
        return (
            f"This file fits whole up to {units.count(own.largest_whole_ctx)} tokens of context "
            f"({own.cache_type} cache)."
        )
    loads = [cell for cell in own.cells if cell.verdict is Verdict.LAYERS]
    best = max(loads, key=lambda cell: cell.ngl, default=None)
    if best is not None and best.ngl:
        return (
            f"This file does not fit whole: at most {best.ngl} of {best.layers_total} layers go "
            f"on the devices, with {units.count(best.ctx)} tokens of context."
        )
    if own.largest_ctx:
        return (
            "No layer fits on a device; it loads into system memory up to "
            f"{units.count(own.largest_ctx)} tokens of context."
        )
    return (
        f"This file does not fit: its {units.size(own.weights_bytes)} of weights are more than the "
        "devices and the system memory have free together."
    )
