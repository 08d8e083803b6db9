"""The lines that matter in a log as a list: one row per line, with its meaning."""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.core import log_words
from app.core.log import Fact, LogEvent
from app.core.log_words import Weight
from app.ui.models import log_titles
from app.ui.widgets.log_marks import Mark

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()

LINE = Qt.ItemDataRole.UserRole  # the line's number, from 1
MARK = Qt.ItemDataRole.UserRole + 1
TEXT = Qt.ItemDataRole.UserRole + 2  # the line itself

_PLACEMENT = frozenset(
    {
        Fact.OFFLOADED,
        Fact.WEIGHTS_BUFFER,
        Fact.KV_BUFFER,
        Fact.RS_BUFFER,
        Fact.COMPUTE_BUFFER,
        Fact.OUTPUT_BUFFER,
        Fact.KV_SIZE,
        Fact.OVERRIDDEN,
        Fact.BREAKDOWN_DEVICE,
        Fact.BREAKDOWN_HOST,
        Fact.DEVICE_USED,
    }
)
_RATES = frozenset({Fact.PROMPT_RATE, Fact.GENERATION_RATE, Fact.DRAFT_ACCEPTANCE})
_ABOUT_PROGRAM = frozenset({Fact.COMMAND, Fact.DEVICE_LISTED, Fact.SYSTEM_INFO, Fact.LOADED})
_RANK = {mark: rank for rank, mark in enumerate(Mark)}


def mark_of(event: LogEvent) -> Mark:
    """Return what a line means at a glance."""
    fact, weight = event.fact, log_words.weight(event)
    if weight is Weight.FAULT:
        is_error = fact.value.startswith("error_") or fact is Fact.CRASHED
        return Mark.ERROR if is_error else Mark.WARNING
    if weight is Weight.HARMLESS:
        return Mark.HARMLESS
    if weight is Weight.DETAIL or fact in _ABOUT_PROGRAM:
        return Mark.NOTE
    if fact in _PLACEMENT:
        return Mark.PLACEMENT
    return Mark.RATE if fact in _RATES else Mark.CONTEXT


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A line that states facts; the most urgent comes first."""

    line: int
    mark: Mark
    events: tuple[LogEvent, ...]


def evidence_lines(events: Iterable[LogEvent]) -> tuple[EvidenceLine, ...]:
    """Return one entry per line; the events are in order."""
    found = []
    for line, group in groupby(events, key=lambda event: event.line):
        ranked = sorted(((mark_of(event), event) for event in group), key=lambda e: _RANK[e[0]])
        found.append(EvidenceLine(line, ranked[0][0], tuple(event for _, event in ranked)))
    return tuple(found)


class LogModel(QAbstractListModel):
    """One row per evidence line; texts are made when a row is shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[EvidenceLine, ...] = ()
        self._lines: tuple[int, ...] = ()

    def show(self, rows: tuple[EvidenceLine, ...]) -> None:
        """Show other lines; when lines were only added, the view keeps its place."""
        before = self._rows
        if before and len(rows) >= len(before) and rows[: len(before)] == before:
            if len(rows) == len(before):
                return
            self.beginInsertRows(_ROOT, len(before), len(rows) - 1)
            self._rows, self._lines = rows, tuple(row.line for row in rows)
            self.endInsertRows()
            return
        self.beginResetModel()
        self._rows, self._lines = rows, tuple(row.line for row in rows)
        self.endResetModel()

    @property
    def lines(self) -> tuple[int, ...]:
        """Return the numbers of the lines, in order."""
        return self._lines

    def entry(self, row: int) -> EvidenceLine:
        """Return a row's line."""
        return self._rows[row]

    def row_of(self, line: int) -> int | None:
        """Return the row of a line, None when it is no evidence."""
        row = bisect.bisect_left(self._lines, line)
        return row if row < len(self._lines) and self._lines[row] == line else None

    def next_line(self, line: int) -> int | None:
        """Return the first evidence line behind a line."""
        row = bisect.bisect_right(self._lines, line)
        return self._lines[row] if row < len(self._lines) else None

    def previous_line(self, line: int) -> int | None:
        """Return the last evidence line before a line."""
        row = bisect.bisect_left(self._lines, line)
        return self._lines[row - 1] if row else None

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """Return how many lines there are."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a row's texts and its meaning."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return log_titles.title(row.events[0])
        if role in (TEXT, Qt.ItemDataRole.ToolTipRole):
            return row.events[0].text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"Line {row.line}, {row.mark.value}: {log_titles.title(row.events[0])}"
        return {LINE: row.line, MARK: row.mark}.get(role)
