"""Follows the log that is shown: looks for growth twice a second, reads it in a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.core.errors import UserError
from app.core.log import LogSummary
from app.work.jobs import Job
from app.work.session import Session

if TYPE_CHECKING:  # it loads numpy, and so would the window
    from app.work.log_file import LogFile

INTERVAL_MS = 500


class Follower(QObject):
    """Reads on while it is active, which the tab is only while it is seen."""

    lines_added = Signal()  # also when the file began anew
    lost = Signal(object)  # a UserError: the file cannot be read any more

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._file: LogFile | None = None
        self._job: Job | None = None
        self._job_file: LogFile | None = None
        self._is_first = False
        self._timer = QTimer(self)
        self._timer.setObjectName("followTimer")
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.look)

    @property
    def is_active(self) -> bool:
        """Tell whether it looks from time to time."""
        return self._timer.isActive()

    def follow(self, file: LogFile | None) -> None:
        """Follow another file, None for none."""
        if file is self._file:
            return
        if self._job is not None:
            self._job.cancel()
        self._file = file
        if self.is_active:
            self.look()

    def set_active(self, is_active: bool) -> None:
        """Look at the file from time to time, or not."""
        if not is_active:
            self._timer.stop()
        elif not self.is_active:
            self._timer.start()
            self.look()

    @Slot()
    def look(self) -> None:
        """Read on when the file has changed and nobody reads it now."""
        file = self._file
        if file is None or self._job is not None or file.is_being_read:
            return
        if not file.is_read and (
            self._session.reading_job is not None or str(file.path) != self._session.log_path
        ):
            return  # it is read for the first time, or that was stopped
        try:
            is_changed = file.is_changed()
        except UserError as error:
            self._lose(error)
            return
        if is_changed:
            self._is_first = not file.is_read
            self._job_file = file
            self._job = self._session.jobs.start(file.read, name="following the log")
            self._job.progress.connect(self._on_progress)
            self._job.done.connect(self._on_done)
            self._job.failed.connect(self._on_failed)
            self._job.finished.connect(self._on_finished)

    @Slot()
    def _on_progress(self) -> None:
        self.lines_added.emit()

    @Slot(object)
    def _on_done(self, summary: LogSummary | None) -> None:
        file = self._job_file  # the one followed: another one would have cancelled the job
        if file is None or summary is None:
            return
        self.lines_added.emit()
        # a log that came with its reading, as from a guided run, keeps it until it grows
        if not self._is_first:
            self._session.update_log(file, summary)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        if isinstance(error, UserError):
            self._lose(error)

    @Slot()
    def _on_finished(self) -> None:
        is_other = self._job_file is not self._file
        self._job, self._job_file = None, None
        if is_other and self.is_active:
            self.look()

    def _lose(self, error: UserError) -> None:
        self._file = None
        self.lost.emit(error)
