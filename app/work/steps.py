"""Long work in named steps: a generator that yields what it waits for, cancellable at each."""

import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from app.core.errors import UserError
from app.work.jobs import Cancelled, Job, Jobs, Work
from app.work.process import Process, Processes

_log = logging.getLogger(__name__)

T = TypeVar("T")
Tell = Callable[[Any, Exception | None], None]


class Wait(Protocol):
    """Something that ends by itself, with a value or an error."""

    def tell_when_ended(self, tell: Tell) -> None:
        """Call back once; at once when it has ended already."""

    def cancel(self) -> None:
        """Ask it to end; it still calls back."""


Script = Generator[Wait, Any, T]


class _Kept:
    """Keeps how something ended until somebody asks."""

    def __init__(self) -> None:
        self._end: tuple[Any, Exception | None] | None = None
        self._tells: list[Tell] = []

    def tell_when_ended(self, tell: Tell) -> None:
        """Call back once; at once when it has ended already."""
        if self._end is None:
            self._tells.append(tell)
        else:
            tell(*self._end)

    def _keep(self, value: Any, error: Exception | None) -> None:
        self._end = (value, error)
        tells, self._tells = self._tells, []
        for tell in tells:
            tell(value, error)


class JobEnd(_Kept):
    """Waits for a job and gives its result, or raises what its work raised."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job
        # lambdas, because a connection does not keep a bound method's object alive
        job.done.connect(lambda value: self._keep(value, None))
        job.failed.connect(lambda error: self._keep(None, error))
        job.cancelled.connect(lambda: self._keep(None, Cancelled()))

    def cancel(self) -> None:
        """Cancel the job."""
        self._job.cancel()


class ProcessEnd(_Kept):
    """Waits for a program and gives its Outcome."""

    def __init__(self, process: Process) -> None:
        super().__init__()
        self.process = process
        process.ended.connect(lambda outcome: self._keep(outcome, None))

    def cancel(self) -> None:
        """Stop the program."""
        self.process.stop()


class FirstOf:
    """Waits for the first of several and gives its value; the others go on."""

    def __init__(self, *waits: Wait) -> None:
        self._waits = waits
        self._tell: Tell | None = None

    def tell_when_ended(self, tell: Tell) -> None:
        """Call back once."""
        self._tell = tell
        for wait in self._waits:
            wait.tell_when_ended(self._on_ended)

    def cancel(self) -> None:
        """Cancel all of them."""
        for wait in self._waits:
            wait.cancel()

    def _on_ended(self, value: Any, error: Exception | None) -> None:
        if self._tell is not None:
            tell, self._tell = self._tell, None
            tell(value, error)


class Steps(QObject):
    """Runs a script; emits done, failed or cancelled exactly once, then finished.

    By then every program that the script started has ended.
    """

    step_started = Signal(str)  # the step's name
    progressed = Signal(int, str)  # per cent of the step, and what is being done
    step_ended = Signal(str, float, str)  # name, seconds, what came out in words
    step_failed = Signal(str, float, str)  # name, seconds, why in words; the work may go on
    done = Signal(object)
    failed = Signal(object)  # an Exception; a UserError has texts for the user
    cancelled = Signal()
    finished = Signal()

    def __init__(self, jobs: Jobs, processes: Processes, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._processes = processes
        processes.stopping.connect(self.cancel)
        self._script: Script[object] | None = None
        self._wait: Wait | None = None
        self._programs: list[ProcessEnd] = []
        self._is_cancelled = False
        self._has_thrown = False
        self._of_a_job: Exception | None = None
        self._step = ""
        self._step_started = 0.0

    @property
    def jobs(self) -> Jobs:
        """Return what starts the jobs of the scripts."""
        return self._jobs

    @property
    def is_running(self) -> bool:
        """Tell whether finished is still to come."""
        return self._script is not None

    @Slot()
    def cancel(self) -> None:
        """Ask the work to end; nothing but cancelled and finished follows."""
        if self._script is not None and not self._is_cancelled:
            self._is_cancelled = True
            if self._wait is not None:
                self._wait.cancel()

    def run(self, script: Script[object]) -> None:
        """Start a script; its first part runs at once."""
        if self._script is not None:
            raise RuntimeError("a script is running already")
        self._script = script
        self._programs = []
        self._is_cancelled = self._has_thrown = False
        self._advance(lambda: script.send(None))

    def begin(self, name: str) -> None:
        """Name the step that starts now."""
        self._step, self._step_started = name, time.monotonic()
        self.step_started.emit(name)

    def end(self, text: str) -> None:
        """Say what the step brought."""
        self.step_ended.emit(self._step, time.monotonic() - self._step_started, text)

    def fail(self, text: str) -> None:
        """Say why the step did not succeed."""
        self.step_failed.emit(self._step, time.monotonic() - self._step_started, text)

    def job(self, work: Work, name: str) -> JobEnd:
        """Start a job whose progress is the step's."""
        job = self._jobs.start(work, name=name)
        job.progress.connect(self.progressed)
        return JobEnd(job)

    def program(
        self, argv: Sequence[str], *, merge: bool = False, log_file: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ProcessEnd:  # fmt: skip
        """Start a program that ends with the script at the latest."""
        process = self._processes.start(argv, merge=merge, log_file=log_file, env=env)
        end = ProcessEnd(process)
        self._programs.append(end)
        return end

    def _advance(self, resume: Callable[[], Wait]) -> None:
        try:
            wait = resume()
        except StopIteration as end:
            result = end.value
            self._close(lambda: self.done.emit(result))
        except Cancelled:
            self._close(self.cancelled.emit)
        except UserError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - the same loop as in jobs.py, in parts
            if error is not self._of_a_job:  # the job has logged it
                _log.error("%s failed", self._step or "a script", exc_info=error)
            self._fail(error)
        else:
            self._wait = wait
            wait.tell_when_ended(self._on_wait_ended)
            if self._is_cancelled and not self._has_thrown:
                wait.cancel()

    def _on_wait_ended(self, value: object, error: Exception | None) -> None:
        script = self._script
        assert script is not None
        self._wait = None
        if self._is_cancelled and not self._has_thrown:
            self._has_thrown = True
            self._advance(lambda: script.throw(Cancelled()))
        elif error is not None:
            self._of_a_job = error
            self._advance(lambda: script.throw(error))
        else:
            self._advance(lambda: script.send(value))

    def _fail(self, error: Exception) -> None:
        self._close(lambda: self.failed.emit(error))

    def _close(self, tell: Callable[[], None]) -> None:
        """Emit the end once no program of the script is left."""
        left = next((end for end in self._programs if end.process.is_running), None)
        if left is not None:
            left.cancel()
            left.tell_when_ended(lambda _outcome, _error: self._close(tell))
            return
        self._script = None
        self._step = ""
        tell()
        self.finished.emit()
