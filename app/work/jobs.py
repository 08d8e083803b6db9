"""Runs a Python function away from the window: cancellable, with exactly one end."""

import logging
import threading
from collections.abc import Callable
from enum import IntEnum

from PySide6.QtCore import (
    QCoreApplication,
    QObject,
    QRunnable,
    Qt,
    QThread,
    QThreadPool,
    Signal,
    Slot,
)

from app.core.errors import UserError

_log = logging.getLogger(__name__)


class Cancelled(Exception):
    """Raised inside a job's work to leave it; never shown to the user."""


class Cancel:
    """The flag that a job's work looks at once per block; may be set from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask the work to stop."""
        self._event.set()

    def is_set(self) -> bool:
        """Tell whether the work was asked to stop."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise Cancelled when the work was asked to stop."""
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Wait, at most so many seconds; raise Cancelled as soon as the work should stop."""
        if self._event.wait(seconds):
            raise Cancelled


class Progress:
    """Takes a percentage and a text from the work; passes on only what changed."""

    def __init__(self, report: Callable[[int, str], None]) -> None:
        self._report = report
        self._last: tuple[int, str] | None = None

    def __call__(self, percent: int, text: str = "") -> None:
        """Report how far the work is, 0 to 100."""
        if (percent, text) != self._last:
            self._last = (percent, text)
            self._report(percent, text)


Work = Callable[[Cancel, Progress], object]


class _End(IntEnum):
    DONE = 0
    FAILED = 1
    CANCELLED = 2


class _Post(QObject):
    """Carries what happens on the pool's threads to the thread that Jobs lives in."""

    progressed = Signal(int, int, str)
    ended = Signal(int, int, object)


class Job(QObject):
    """One run of a function; emits done, failed or cancelled exactly once, then finished."""

    done = Signal(object)
    failed = Signal(object)  # an Exception; a UserError has texts for the user
    cancelled = Signal()
    finished = Signal()
    progress = Signal(int, str)  # 0 to 100, and what is being done

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.is_finished = False
        self._cancel = Cancel()

    def cancel(self) -> None:
        """Ask the work to stop; from now on the job publishes no result."""
        self._cancel.set()

    @property
    def is_cancelled(self) -> bool:
        """Tell whether the job was asked to stop."""
        return self._cancel.is_set()

    def _advance(self, percent: int, text: str) -> None:
        if not self._cancel.is_set():
            self.progress.emit(percent, text)

    def _finish(self, end: int, value: object) -> None:
        self.is_finished = True
        # cancelled after the work was done but before its result arrived: publish nothing
        if end == _End.CANCELLED or self._cancel.is_set():
            self.cancelled.emit()
        elif end == _End.DONE:
            self.done.emit(value)
        else:
            if isinstance(value, Exception) and not isinstance(value, UserError):
                _log.error("%s failed", self.name, exc_info=value)
            self.failed.emit(value)
        self.finished.emit()


class _Run(QRunnable):
    """The pool's side of a job. It does not hold the Job: else the last reference could go
    on the pool's thread, which destroys a QObject in the wrong one."""

    def __init__(self, number: int, name: str, work: Work, cancel: Cancel, post: _Post) -> None:
        super().__init__()
        self._number = number
        self._name = name
        self._work = work
        self._cancel = cancel
        self._post = post

    def run(self) -> None:
        """Call the work and post how it ended."""
        number, post = self._number, self._post
        end: tuple[_End, object] = (_End.FAILED, RuntimeError(f"{self._name} ended early"))
        try:
            self._cancel.check()
            report = Progress(lambda percent, text: post.progressed.emit(number, percent, text))
            end = (_End.DONE, self._work(self._cancel, report))
        except Cancelled:
            end = (_End.CANCELLED, None)
        except SystemExit as leaving:
            # leaving a pool thread this way would end the interpreter from the wrong thread
            end = (_End.FAILED, RuntimeError(f"{self._name} tried to exit: {leaving.code}"))
        except UserError as error:
            end = (_End.FAILED, error)
        except Exception as error:  # noqa: BLE001
            # one of the three places where anything is caught: a bug in one job may not
            # end the others; the window shows it as a bug
            end = (_End.FAILED, error)
        finally:
            post.ended.emit(number, int(end[0]), end[1])


class Jobs(QObject):
    """Starts jobs and keeps each one until its end was delivered."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(max(4, QThread.idealThreadCount()))
        self._post = _Post(self)
        queued = Qt.ConnectionType.QueuedConnection
        self._post.progressed.connect(self._on_progressed, queued)
        self._post.ended.connect(self._on_ended, queued)
        self._jobs: dict[int, Job] = {}
        self._next = 0

    def start(self, work: Work, *, name: str) -> Job:
        """Start a function on the pool; connect to the returned job before the next event."""
        if QThread.currentThread() is not self.thread():
            raise RuntimeError("jobs start from the thread that owns them")
        job = Job(name)
        number = self._next
        self._next += 1
        self._jobs[number] = job
        self._pool.start(_Run(number, name, work, job._cancel, self._post))
        return job

    def running(self) -> int:
        """Return how many jobs have not delivered their end."""
        return len(self._jobs)

    def cancel_all(self) -> None:
        """Ask every job to stop."""
        for job in self._jobs.values():
            job.cancel()

    def stop_all_and_wait(self, timeout_s: float = 10.0) -> bool:
        """Cancel all jobs, wait and deliver their ends; False when one did not stop in time."""
        self.cancel_all()
        in_time = self._pool.waitForDone(int(timeout_s * 1000))
        QCoreApplication.sendPostedEvents(self)
        return in_time and not self._jobs

    @Slot(int, int, str)
    def _on_progressed(self, number: int, percent: int, text: str) -> None:
        job = self._jobs.get(number)
        if job is not None:
            job._advance(percent, text)

    @Slot(int, int, object)
    def _on_ended(self, number: int, end: int, value: object) -> None:
        self._jobs[number]._finish(end, value)
        # only now: a slot of `finished` may look at the job
        del self._jobs[number]


class Latest:
    """A line of requests of which only the newest counts: starting one cancels the one before."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._job: Job | None = None

    def start(self, work: Work, *, name: str) -> Job:
        """Cancel the job before and start this one."""
        self.cancel()
        self._job = self._jobs.start(work, name=name)
        return self._job

    def cancel(self) -> None:
        """Cancel the job that is running, if any."""
        if self._job is not None:
            self._job.cancel()
