"""Searches the log that a view shows: the field, the job, and the lines found."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core import units
from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.log import Found
from app.ui.models import found_spans
from app.ui.widgets.find_bar import FindBar
from app.ui.widgets.log_view import LogView
from app.work.jobs import Jobs, Latest, Progress

if TYPE_CHECKING:  # it loads numpy, which takes longer than showing the tab
    from app.logs.reader import LineIndex

_NONE = Found("", ())
_HARD = (
    "On some lines the pattern takes too many steps, so whether they match is not known. "
    "A pattern without a repeat inside a repeat, as in (a+)+, takes fewer"
)


class LogSearch(QObject):
    """Keeps field and view in step; a newer search cancels the one before."""

    found_changed = Signal()

    def __init__(self, jobs: Jobs, bar: FindBar, view: LogView) -> None:
        super().__init__(view)
        self._bar = bar
        self._view = view
        self._index: LineIndex | None = None
        self._found = _NONE
        self._n_bytes = 0  # of the log when it was searched
        self._goes_to: tuple[int, bool] | None = None  # when found: from which line, backwards?
        self._latest = Latest(jobs)
        bar.text_changed.connect(self._on_text)
        bar.next_wanted.connect(self.next)
        bar.previous_wanted.connect(self.previous)
        bar.left.connect(self._on_left)
        view.current_changed.connect(self._show_count)

    def use(self, index: LineIndex | None) -> None:
        """Search another log from now on, for the same text."""
        self._index = index
        self._bar.setEnabled(index is not None)
        self._search()

    def stop(self) -> None:
        """Search no more."""
        self._bar.stop()
        self._latest.cancel()

    def next(self) -> None:
        """Go to the next line found, after the last one to the first."""
        self._step(is_back=False)

    def previous(self) -> None:
        """Go to the line found before, from the first one to the last."""
        self._step(is_back=True)

    def _on_text(self, _text: str) -> None:
        self._goes_to = (max(1, self._view.current_line), False)
        self._search()

    def _on_left(self) -> None:
        self._bar.field.clear()
        self._view.setFocus()

    def _search(self) -> None:
        index, text, is_regex = self._index, self._bar.text, self._bar.is_regex
        self._latest.cancel()
        if index is None or not text:
            self._show(_NONE)
            return
        self._n_bytes = index.n_bytes
        job = self._latest.start(
            lambda cancel, progress: (_match if is_regex else _find)(index, text, cancel, progress),
            name="log search",
        )
        self._bar.show_count(self.tr("searching"), can_move=False)
        job.progress.connect(self._on_progress)
        job.done.connect(self._on_done)
        job.failed.connect(self._on_failed)

    def _on_progress(self, percent: int) -> None:
        if percent < 100:
            self._bar.show_count(self.tr("searching, {0} %").format(percent), can_move=False)

    def _on_done(self, found: Found) -> None:
        self._show(found)
        if self._goes_to is not None and self._view.found_lines:
            self._go(*self._goes_to)
        self._goes_to = None

    def _on_failed(self, error: Exception) -> None:
        self._show(_NONE)
        if isinstance(error, UserError):
            text = self.tr("no valid pattern: {0}").format(error.detail)
            self._bar.show_count(text, can_move=False)
            self._bar.count.setToolTip(error.sentence())
        else:
            self._bar.show_count(self.tr("the file is gone"), can_move=False)

    @property
    def lines(self) -> Sequence[int]:
        """Return the lines, from 1, that hold the text, shown or not."""
        return self._found.lines

    def _show(self, found: Found) -> None:
        self._found = found
        self._bar.count.setToolTip(self.tr(_HARD) if found.n_hard else "")
        spans = found_spans.of_pattern if self._bar.is_regex else found_spans.of_text
        self._view.show_found(found.lines, spans(found.text))
        self._show_count()
        self.found_changed.emit()

    def _show_count(self) -> None:
        found, line = self._found, self._view.current_line
        if not found.text:
            self._bar.show_count("", can_move=False)
            return
        lines = self._view.found_lines
        count = units.count(len(lines)) + ("" if found.is_all else "+")
        at = bisect.bisect_left(lines, line)
        is_on = at < len(lines) and lines[at] == line
        text = f"{count} lines" if len(lines) != 1 else f"{count} line"
        if is_on:
            text = f"{units.count(at + 1)} of {count}"
        if found.n_hard:
            text += self.tr(", {0} not checked").format(units.count(found.n_hard))
        self._bar.show_count(text, can_move=bool(lines))

    def _step(self, *, is_back: bool) -> None:
        index, line = self._index, self._view.current_line + (0 if is_back else 1)
        if index is not None and self._bar.text and index.n_bytes != self._n_bytes:
            self._goes_to = (line, is_back)
            self._search()  # it has grown
        elif self._view.found_lines:
            self._go(line, is_back)

    def _go(self, line: int, is_back: bool) -> None:
        """Go to the line found at or behind a line, or before it."""
        lines = self._view.found_lines
        at = bisect.bisect_left(lines, line) - (1 if is_back else 0)
        self._view.go_to_line(lines[at % len(lines)])


def _find(index: LineIndex, text: str, cancel: Cancel, progress: Progress) -> Found:
    from app.logs.find import find

    return find(index, text, cancel, progress)


def _match(index: LineIndex, text: str, cancel: Cancel, progress: Progress) -> Found:
    from app.work.log_pattern import find_pattern

    return find_pattern(index, text, cancel, progress)
