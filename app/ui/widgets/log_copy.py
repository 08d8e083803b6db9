"""Copies the selected lines of a log without personal details."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.core import units
from app.core.evidence import Evidence
from app.ui.widgets.log_view import LogView
from app.work.jobs import Jobs, Latest
from app.work.private_text import PrivateText, private_text


class PrivateCopy(QObject):
    """Takes the details out in a job, then says how many lines there are and what was removed."""

    said = Signal(str)

    def __init__(self, jobs: Jobs, view: LogView, evidence: Callable[[], Evidence]) -> None:
        super().__init__(view)
        self._view, self._evidence = view, evidence
        self._latest = Latest(jobs)

    def start(self) -> None:
        """Copy what is selected now."""
        texts, evidence = self._view.selected_texts(), self._evidence()
        if texts:
            job = self._latest.start(
                lambda cancel, _progress: private_text(texts, evidence, cancel),
                name="private copy",
            )
            job.done.connect(self._on_done)

    def _on_done(self, private: PrivateText) -> None:
        QGuiApplication.clipboard().setText(private.text)
        removed = private.removed or self.tr("nothing")
        n_lines = units.lines(private.n_lines)
        self.said.emit(self.tr("Copied {0}; taken out: {1}").format(n_lines, removed))
