"""A log on this computer: its line index and its scan, made in one pass, also while it grows."""

import threading
from dataclasses import replace
from pathlib import Path

from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.log import LogSummary
from app.logs.reader import Growth, LineIndex
from app.logs.scan import Progress, Scanner

_Stamp = tuple[int, int, int, int]


class LogFile:
    """Reads a log in a Job, while the window already shows the lines that are indexed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = LineIndex(path)  # UserError when the file cannot be read
        self.n_restarts = 0  # how often another or a shorter file took its place
        self._scanner = Scanner()
        self._stamp: _Stamp | None = None
        self._reading = threading.Lock()

    @property
    def is_read(self) -> bool:
        """Tell whether it was read to its end at least once."""
        return self._stamp is not None

    @property
    def is_being_read(self) -> bool:
        """Tell whether a job reads it now."""
        return self._reading.locked()

    def is_changed(self) -> bool:
        """Tell whether there is more or something else to read; UserError when it is gone."""
        return self._look() != self._stamp

    def read(self, cancel: Cancel, progress: Progress | None = None) -> LogSummary | None:
        """Read what was written since the last call; None when that is nothing."""
        with self._reading:
            cancel.check()
            stamp = self._look()
            growth = self.index.extend(cancel, progress, self._scanner.feed)
            if growth is Growth.RESTARTED:
                self._scanner = Scanner()
                self.n_restarts += 1
                self.index.extend(cancel, progress, self._scanner.feed)
            is_first = self._stamp is None
            self._stamp = stamp
            if growth is Growth.SAME and not is_first:
                return None
            return self._summary()

    def read_all(self, cancel: Cancel, progress: Progress | None = None) -> LogSummary:
        """Read what was not read yet, and return what the log says, new or not."""
        summary = self.read(cancel, progress)
        if summary is not None:
            return summary
        with self._reading:
            return self._summary()

    def close(self) -> None:
        """Drop what was made for showing the file."""
        self.index.close()

    def _summary(self) -> LogSummary:
        summary = self._scanner.summary(self.path.name, self.index.n_bytes)
        return replace(summary, damage=self.index.note)

    def _look(self) -> _Stamp:
        try:
            status = self.path.stat()
        except OSError as error:
            raise UserError(
                f"{self.path.name} is not there any more", error.strerror or str(error)
            ) from error
        return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
