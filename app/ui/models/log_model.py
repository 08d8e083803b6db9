"""The lines that matter in a log as a list: one row per line, with its meaning."""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.core import log_words
from app.core.cancel import Cancel
from app.core.log import Fact, LogEvent, LogSummary
from app.core.log_words import Weight
from app.ui.models import log_titles
from app.ui.widgets.log_marks import LineMarks, Mark

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


def _mark_of(fact: Fact, is_projection: bool) -> Mark:
    weight = log_words.weight(LogEvent(fact, 1, "", is_projection=is_projection))
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


_MARKS = {(fact, trial): _mark_of(fact, trial) for fact in Fact for trial in (False, True)}
_RANK = {mark: rank for rank, mark in enumerate(Mark)}


def mark_of(event: LogEvent) -> Mark:
    """Return what a line means at a glance."""
    return _MARKS[event.fact, event.is_projection]


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A line that states facts; the most urgent comes first."""

    line: int
    mark: Mark
    events: tuple[LogEvent, ...]


def evidence_lines(events: Iterable[LogEvent]) -> tuple[EvidenceLine, ...]:
    """Return one entry per line; the events are in order."""
    found = []
    for line, group in groupby(events, key=attrgetter("line")):
        ranked = tuple(group)
        if len(ranked) > 1:
            ranked = tuple(sorted(ranked, key=lambda event: _RANK[mark_of(event)]))
        found.append(EvidenceLine(line, mark_of(ranked[0]), ranked))
    return tuple(found)


def marks_of(rows: Iterable[EvidenceLine]) -> LineMarks:
    """Return the marks of these lines."""
    by_line = {row.line: row.mark for row in rows}
    sorted_lines: dict[Mark, list[int]] = {mark: [] for mark in Mark}
    for line, mark in by_line.items():
        sorted_lines[mark].append(line)
    return LineMarks(by_line, tuple((mark, lines) for mark, lines in sorted_lines.items()))


@dataclass(frozen=True, slots=True)
class LogReading:
    """What the tab shows of a log beside its text."""

    log: LogSummary
    rows: tuple[EvidenceLine, ...]
    marks: LineMarks


def reading_of(log: LogSummary, cancel: Cancel) -> LogReading:
    """Rank the events of a log; meant to run in a Job, as there may be a hundred thousand."""
    rows = evidence_lines(log.events)
    cancel.check()
    return LogReading(log, rows, marks_of(rows))


class LogModel(QAbstractListModel):
    """One row per evidence line; texts are made when a row is shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[EvidenceLine, ...] = ()
        self._lines: tuple[int, ...] = ()

    def show(self, rows: tuple[EvidenceLine, ...]) -> None:
        """Show other lines; when lines were only added, the view keeps its place."""
        lines, n_before = tuple(row.line for row in rows), len(self._rows)
        is_longer = n_before and lines[:n_before] == self._lines
        if is_longer and len(lines) > n_before:
            self.beginInsertRows(_ROOT, n_before, len(lines) - 1)
        elif not is_longer:
            self.beginResetModel()
        self._rows, self._lines = rows, lines
        if is_longer and len(lines) > n_before:
            self.endInsertRows()
        elif not is_longer:
            self.endResetModel()
        if is_longer:  # what comes later may show that a pass was a trial
            self.dataChanged.emit(self.index(0), self.index(n_before - 1))

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
            return " ".join(row.events[0].text.split())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"Line {row.line}, {row.mark.value}: {log_titles.title(row.events[0])}"
        return {LINE: row.line, MARK: row.mark}.get(role)
