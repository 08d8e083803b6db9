"""Runs a program beside the window: lines out, one end, and nothing of it left behind."""

import codecs
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import psutil
from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QEventLoop,
    QObject,
    QProcess,
    QProcessEnvironment,
    Qt,
    QTimer,
    Signal,
    Slot,
)

from app.probes.host import child_environment
from app.work import guard
from app.work.outcome import End, Outcome
from app.work.windows_job import WindowsJob

STOP_AFTER_S = 3.0
_KILL_GUARD_MS = 1000
LINE_LIMIT = 1 << 20  # characters; a longer line is passed on in pieces
TAIL_LINES = 40
_MERGED = QProcess.ProcessChannelMode.MergedChannels
_USES_GUARD = sys.platform in ("linux", "darwin")


class _Lines:
    """Cuts a stream of bytes into lines of text; what is no UTF-8 becomes U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, data: bytes, *, is_last: bool = False) -> list[str]:
        """Return the lines that are complete now, at the end also the one that is not."""
        text = self._rest + self._decoder.decode(data, is_last)
        *lines, self._rest = text.split("\n")
        while len(self._rest) > LINE_LIMIT:
            lines.append(self._rest[:LINE_LIMIT])
            self._rest = self._rest[LINE_LIMIT:]
        if is_last and self._rest:
            lines.append(self._rest)
            self._rest = ""
        return [line.rstrip("\r") for line in lines]


class Process(QObject):
    """One run of a program. Start it through Processes, which keeps it until its end.

    Programs get no input. `ended` comes exactly once, after the last line, also when the program
    did not start. The program ends when we do, also after kill -9 (app/work/guard.py).
    """

    line_read = Signal(str)  # from the standard output; from both when they are merged
    error_line_read = Signal(str)
    ended = Signal(object)  # an Outcome

    def __init__(
        self, argv: Sequence[str], *, merge: bool = False, log_file: Path | None = None,
        env: Mapping[str, str] | None = None, parent: QObject | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.argv = tuple(argv)
        self.name = Path(argv[0]).name
        self._log_path = log_file
        self._log: BinaryIO | None = None
        self._env = dict(env or {})
        self._out, self._err = _Lines(), _Lines()
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._started = 0.0
        self._is_stopping = False
        self._has_killed = False
        self._has_ended = False
        self._noted: list[psutil.Process] = []
        self._job = WindowsJob()
        self._process = QProcess(self)
        if merge:
            self._process.setProcessChannelMode(_MERGED)
        self._process.setStandardInputFile(QProcess.nullDevice())
        self._process.readyReadStandardOutput.connect(self._on_output)
        self._process.readyReadStandardError.connect(self._on_error_output)
        self._process.started.connect(self._on_started)
        self._process.errorOccurred.connect(self._on_error)
        self._process.finished.connect(self._on_finished)
        self._kill_timer = QTimer(self)
        self._kill_timer.setSingleShot(True)
        self._kill_timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._kill_timer.timeout.connect(self._kill)

    def start(self) -> None:
        """Start the program; failures come through `ended`, after this has returned."""
        self._started = time.monotonic()
        program, reason = resolve(self.argv[0])
        if reason:
            self._end_soon(reason)
            return
        if self._log_path is not None:
            try:
                self._log_path.parent.mkdir(parents=True, exist_ok=True)
                self._log = self._log_path.open("wb")
            except OSError as error:
                self._end_soon(f"its log {self._log_path} cannot be written ({error.strerror})")
                return
        command = [program, *self.argv[1:]]
        if _USES_GUARD:
            # the kernel tells the guard of the end of the thread that started it; ours is the
            # main thread, which lives as long as the process (prctl(2), PR_SET_PDEATHSIG)
            command = [*guard.prefix(os.getpid()), *command]
        self._process.setProcessEnvironment(self._environment())
        self._process.start(command[0], command[1:])

    @property
    def is_running(self) -> bool:
        """Tell whether `ended` is still to come."""
        return not self._has_ended

    def pids(self) -> tuple[int, ...]:
        """Return the process ids of the program, its guard and its children; empty when ended."""
        root = self._root()
        if root is None:
            return ()
        return (root.pid, *(child.pid for child in _children(root)))

    def stop(self, *, at_once: bool = False) -> None:
        """Ask the program to end; after three seconds, or at once, kill it and all it started."""
        if self._has_ended or self._is_stopping:
            return
        self._is_stopping = True
        root = self._root()
        if root is None:  # not started yet, or ended just now
            self._process.kill()
            return
        self._noted = _children(root)
        if at_once or sys.platform == "win32":  # console programs do not hear the polite way
            self._kill()
            return
        self._process.terminate()
        self._kill_timer.start(int(STOP_AFTER_S * 1000))

    def tail(self) -> tuple[str, ...]:
        """Return the last lines of the output."""
        return tuple(self._tail)

    def _environment(self) -> QProcessEnvironment:
        # a packaged guard sets its own library path again; it puts this one back for the program
        is_frozen = bool(getattr(sys, "frozen", False))
        wanted = {**child_environment(os.environ, is_frozen=is_frozen), **self._env}
        result = QProcessEnvironment.systemEnvironment()
        for name in set(os.environ) - set(wanted):
            result.remove(name)
        for name, value in wanted.items():
            if os.environ.get(name) != value:
                result.insert(name, value)
        return result

    def _root(self) -> psutil.Process | None:
        pid = 0 if self._has_ended else int(self._process.processId())
        try:
            return psutil.Process(pid) if pid else None
        except psutil.Error:
            return None

    def _end_soon(self, reason: str) -> None:
        outcome = Outcome(self.name, End.NOT_STARTED, reason=reason)
        QTimer.singleShot(0, self, lambda: self._end(outcome))

    @Slot()
    def _on_started(self) -> None:
        if sys.platform == "win32":
            # a child that it starts in these first milliseconds would escape the job object
            self._job.add(int(self._process.processId()))

    @Slot()
    def _on_output(self) -> None:
        self._take(self._process.readAllStandardOutput(), self._out, self.line_read.emit)

    @Slot()
    def _on_error_output(self) -> None:
        self._take(self._process.readAllStandardError(), self._err, self.error_line_read.emit)

    def _take(
        self, data: QByteArray, lines: _Lines, tell: Callable[[str], None], *, is_last: bool = False
    ) -> None:
        raw = bytes(data.data())
        if self._log is not None and raw:
            try:
                self._log.write(raw)
            except OSError:  # the disk is full: the lines still arrive
                self._log = None
        for line in lines.feed(raw, is_last=is_last):
            self._tail.append(line)
            tell(line)

    @Slot(QProcess.ProcessError)
    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end(Outcome(self.name, End.NOT_STARTED, reason=self._process.errorString()))

    @Slot(int, QProcess.ExitStatus)
    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        out = self._process.readAllStandardOutput()
        self._take(out, self._out, self.line_read.emit, is_last=True)
        if self._process.processChannelMode() is not _MERGED:
            err = self._process.readAllStandardError()
            self._take(err, self._err, self.error_line_read.emit, is_last=True)
        has_crashed = status is QProcess.ExitStatus.CrashExit
        self._kill_timer.stop()
        self._kill_noted()
        self._end(self._outcome(code, has_crashed=has_crashed))

    def _outcome(self, code: int, *, has_crashed: bool) -> Outcome:
        seconds = time.monotonic() - self._started
        lines = self.tail()
        if self._is_stopping:
            return Outcome(self.name, End.STOPPED, code, seconds=seconds, last_lines=lines)
        if has_crashed:
            # on Unix the exit code of a crash is the signal's number (QProcess, qprocess_unix)
            number, exit_code = (None, code) if sys.platform == "win32" else (code, None)
            return Outcome(self.name, End.CRASHED, exit_code, number, "", seconds, lines)
        refusal = next((line for line in lines if line.startswith(guard.MARK)), "")
        if code == guard.NOT_STARTED and refusal:
            reason = refusal.removeprefix(guard.MARK)
            return Outcome(self.name, End.NOT_STARTED, code, reason=reason, last_lines=lines)
        return Outcome(self.name, End.EXITED, code, seconds=seconds, last_lines=lines)

    def _end(self, outcome: Outcome) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        if self._log is not None:
            self._log.close()
        self.ended.emit(outcome)

    @Slot()
    def _kill(self) -> None:
        root = self._root()
        if root is not None:
            self._noted += _children(root)
        self._job.kill_all()
        if _USES_GUARD and not self._has_killed:
            # the guard ends when the program has; it is killed only if it does not
            self._has_killed = True
            self._kill_timer.start(_KILL_GUARD_MS)
        else:
            self._process.kill()
        self._kill_noted()

    def _kill_noted(self) -> None:
        """Kill the children that were noted; psutil knows a reused process id from the old one."""
        for child in self._noted:
            try:
                child.kill()
            except psutil.Error:
                continue  # it has ended
        self._noted = []


class Processes(QObject):
    """Starts programs and keeps each one until its end was delivered."""

    stopping = Signal()  # everything is about to be stopped: start nothing more

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._running: list[Process] = []

    def start(
        self, argv: Sequence[str], *, merge: bool = False, log_file: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Process:  # fmt: skip
        """Start a program; connect to the returned process before the next event."""
        process = Process(argv, merge=merge, log_file=log_file, env=env, parent=self)
        self._running.append(process)
        # queued: it is let go only after all others have heard of its end
        process.ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)
        process.start()
        return process

    def running(self) -> int:
        """Return how many programs have not ended."""
        return sum(process.is_running for process in self._running)

    def stop_all_and_wait(self, timeout_s: float = 10.0) -> bool:
        """Stop all programs and wait for their ends; False when one was left."""
        self.stopping.emit()
        for process in list(self._running):
            process.stop()
        deadline = time.monotonic() + timeout_s
        loop = QEventLoop()
        poll = QTimer()
        poll.setInterval(10)
        poll.timeout.connect(lambda: self._leave_when_done(loop, deadline))
        poll.start()
        if self.running():
            loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        QCoreApplication.sendPostedEvents(self)
        return self.running() == 0

    def _leave_when_done(self, loop: QEventLoop, deadline: float) -> None:
        if not self.running() or time.monotonic() > deadline:
            loop.quit()

    @Slot(object)
    def _on_ended(self, _outcome: Outcome) -> None:
        for process in [process for process in self._running if not process.is_running]:
            self._running.remove(process)
            process.deleteLater()


def resolve(program: str) -> tuple[str, str]:
    """Return a program's full path, or "" and the reason why it cannot be started."""
    path = Path(program).expanduser()
    if path.name == program:
        found = shutil.which(program)
        return (found, "") if found else ("", f"no program of this name is on PATH: {program}")
    if not path.exists():
        return "", f"there is no such file: {path}"
    if path.is_dir():
        return "", f"this is a folder, not a program: {path}"
    if not os.access(path, os.X_OK):
        return "", f"the file is not marked as executable: {path}"
    return str(path.absolute()), ""


def _children(root: psutil.Process) -> list[psutil.Process]:
    try:
        return list(root.children(recursive=True))
    except psutil.Error:
        return []
