"""Chooses which rows of a log are shown: all, the marked, the found, or those of a level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox

from app.core import units
from app.core.cancel import Cancel
from app.core.log import Found
from app.ui.widgets.log_view import LogView
from app.work.jobs import Jobs, Latest, Progress

if TYPE_CHECKING:  # it loads numpy
    from app.logs.reader import LineIndex


class Rows(Enum):
    """Which rows are shown."""

    ALL = "All lines"
    MARKED = "Marked lines"
    FOUND = "Lines found"
    WARNINGS = "Warnings and errors"
    ERRORS = "Errors"


_LEVELS = {Rows.WARNINGS: "warnings", Rows.ERRORS: "errors"}


class LogFilter(QObject):
    """Keeps the box and the view in step; the levels are looked for in a job."""

    said = Signal(str)

    def __init__(
        self,
        jobs: Jobs,
        box: QComboBox,
        view: LogView,
        marked: Callable[[], Sequence[int]],
        found: Callable[[], Sequence[int]],
    ) -> None:
        super().__init__(view)
        self._box, self._view = box, view
        self._marked, self._found = marked, found
        self._index: LineIndex | None = None
        self._latest = Latest(jobs)
        self._rows: Sequence[int] | None = None
        self._is_refresh = False
        for rows in Rows:
            box.addItem(self.tr(rows.value), rows)
        box.currentIndexChanged.connect(self._on_chosen)

    @property
    def rows(self) -> Rows:
        """Return what is chosen."""
        chosen: Rows = self._box.currentData()
        return chosen

    def use(self, index: LineIndex | None) -> None:
        """Show all lines of another log; without one, only the kept ones can be shown."""
        self._index = index
        self.stop()
        with QSignalBlocker(self._box):
            self._box.setCurrentIndex(list(Rows).index(Rows.ALL if index else Rows.MARKED))
        self._box.setEnabled(index is not None)

    def stop(self) -> None:
        """Look for no more lines."""
        self._latest.cancel()

    def refresh(self) -> None:
        """Take the lines anew, as the log has grown or another text is searched for."""
        if self._index is not None and self.rows is not Rows.ALL:
            self._show(is_refresh=True)

    def allow(self, line: int) -> None:
        """Show all lines when this one is hidden."""
        if self._index is not None and self._rows is not None and line not in self._rows:
            self._box.setCurrentIndex(list(Rows).index(Rows.ALL))

    def _on_chosen(self) -> None:
        self._show(is_refresh=False)

    def _show(self, *, is_refresh: bool) -> None:
        rows, index = self.rows, self._index
        self._latest.cancel()
        self._is_refresh = is_refresh
        if rows is Rows.ALL:
            self._use(None)
        elif rows is Rows.MARKED:
            self._use(self._marked())
        elif rows is Rows.FOUND:
            self._use(self._found())
        elif index is not None:
            name = _LEVELS[rows]
            job = self._latest.start(
                lambda cancel, progress: _of_level(index, name, cancel, progress),
                name="lines of a level",
            )
            job.progress.connect(self._on_progress)
            job.done.connect(self._on_done)

    def _on_progress(self, percent: int) -> None:
        if percent < 100 and not self._is_refresh:
            self.said.emit(self.tr("Looking for such lines, {0} %").format(percent))

    def _on_done(self, found: Found) -> None:
        count = units.count(len(found.lines))
        if not found.is_all:
            self.said.emit(self.tr("Shown are the first {0}").format(count))
        elif not self._is_refresh:
            self.said.emit(self.tr("Lines shown: {0}").format(count))
        self._use(found.lines)

    def _use(self, rows: Sequence[int] | None) -> None:
        self._rows = rows
        if self._is_refresh and rows is not None:
            self._view.update_rows(rows)
        else:
            self._view.show_rows(rows)


def _of_level(index: LineIndex, name: str, cancel: Cancel, progress: Progress) -> Found:
    from app.work.log_pattern import LEVELS, find_pattern

    return find_pattern(index, LEVELS[name], cancel, progress)
