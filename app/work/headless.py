"""Runs the guided run and the benchmark without a window, for the command line."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.work.bench_runner import BenchPlan, BenchResult, BenchRunner
from app.work.diagnose_run import DiagnosePlan, DiagnoseResult, DiagnoseRun
from app.work.jobs import Cancelled, Jobs
from app.work.process import Processes
from app.work.steps import Steps

T = TypeVar("T")
S = TypeVar("S", bound=Steps)
Say = Callable[[str], None]

_WAKE_MS = 100


def run_diagnose(plan: DiagnosePlan, say: Say = lambda _text: None) -> DiagnoseResult:
    """Do the guided run to its end; UserError when it failed, Cancelled after Ctrl+C."""
    return _to_the_end(DiagnoseRun, lambda run: run.start(plan), DiagnoseResult, say)


def run_bench(plan: BenchPlan, say: Say = lambda _text: None) -> BenchResult:
    """Measure to the end; UserError when it failed, Cancelled after Ctrl+C."""
    return _to_the_end(BenchRunner, lambda run: run.start(plan), BenchResult, say)


def _to_the_end(kind: type[S], start: Callable[[S], None], result: type[T], say: Say) -> T:
    application = QCoreApplication.instance() or QCoreApplication([])
    jobs, processes = Jobs(), Processes()
    steps = kind(jobs, processes)
    ends: list[object] = []
    loop = QEventLoop(application)
    steps.step_started.connect(lambda name: say(f"{name} ..."))
    steps.step_ended.connect(lambda name, seconds, text: say(f"{name}: {text} ({seconds:.1f} s)"))
    steps.done.connect(ends.append)
    steps.failed.connect(ends.append)
    steps.cancelled.connect(lambda: ends.append(Cancelled()))
    steps.finished.connect(loop.quit)
    # start inside the loop: a plan that ends at once would quit a loop that does not run yet
    QTimer.singleShot(0, steps, lambda: start(steps))
    with _interrupts(steps.cancel):
        loop.exec()
    processes.stop_all_and_wait()
    jobs.stop_all_and_wait()
    end = ends[0]
    if isinstance(end, Exception):
        raise end
    assert isinstance(end, result)
    return end


@contextmanager
def _interrupts(cancel: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl+C and a polite kill cancel; they would otherwise wait for the loop's end."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        cancel()

    before = {number: signal.signal(number, on_signal) for number in _signals()}
    # Python looks for signals only while Python code runs, so some has to run now and then
    waker = QTimer()
    waker.timeout.connect(lambda: None)
    waker.start(_WAKE_MS)
    try:
        yield
    finally:
        waker.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def _signals() -> tuple[signal.Signals, ...]:
    return (signal.SIGINT, signal.SIGTERM)
