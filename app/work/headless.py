"""Runs the guided run and the benchmark without a window, for the command line."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from app.core.evidence import Evidence
from app.core.machine import Machine
from app.core.said import Said
from app.work.bench_runner import BenchPlan, BenchResult, BenchRunner
from app.work.diagnose_run import DiagnosePlan, DiagnoseResult, DiagnoseRun, MachineRun
from app.work.dry_pass import DryPass, Question
from app.work.jobs import Cancelled, Jobs
from app.work.observe_run import ObservePlan, ObserveRun
from app.work.process import Processes
from app.work.prove_run import ProvePlan, ProveRun
from app.work.ratio_run import RatioResult, RatioRun
from app.work.steps import Steps

T = TypeVar("T")
S = TypeVar("S", bound=Steps)
Say = Callable[[str], None]

_WAKE_MS = 100


def run_diagnose(plan: DiagnosePlan, say: Say = lambda _text: None) -> DiagnoseResult:
    """Do the guided run to its end; UserError when it failed, Cancelled after Ctrl+C."""
    return _to_the_end(DiagnoseRun, lambda run: run.start(plan), DiagnoseResult, say)


def run_observe(plan: ObservePlan, say: Say = lambda _text: None) -> DiagnoseResult:
    """Watch a runtime that runs; UserError when none does, Cancelled after Ctrl+C."""
    return _to_the_end(ObserveRun, lambda run: run.start(plan), DiagnoseResult, say)


def run_proof(plan: ProvePlan, say: Say = lambda _text: None) -> Evidence:
    """Load and measure again with one change; the same evidence with its second run."""
    return _to_the_end(ProveRun, lambda run: run.prove(plan), Evidence, say)


def run_bench(plan: BenchPlan, say: Say = lambda _text: None) -> BenchResult:
    """Measure to the end; UserError when it failed, Cancelled after Ctrl+C."""
    return _to_the_end(BenchRunner, lambda run: run.start(plan), BenchResult, say)


def ask_llama(question: Question, say: Say = lambda _text: None) -> Said:
    """Ask the user's own llama.cpp what a load takes; UserError when it does not say."""
    return _to_the_end(DryPass, lambda run: run.start(question), Said, say)


def run_ratio(plan: BenchPlan, say: Say = lambda _text: None) -> RatioResult:
    """Measure both ends; UserError when it failed, Cancelled after Ctrl+C."""
    return _to_the_end(RatioRun, lambda run: run.start(plan), RatioResult, say)


def look_at_machine(folders: tuple[str, ...], say: Say = lambda _text: None) -> Machine:
    """Read this computer; folders are looked into first for llama.cpp's programs."""
    return _to_the_end(MachineRun, lambda run: run.start(folders), Machine, say)


def application(*, draws: bool = False) -> QCoreApplication:
    """Return the application to keep for all that follows; draws: it is to write a PDF."""
    if not draws:
        return QCoreApplication.instance() or QCoreApplication([])
    from PySide6.QtGui import QGuiApplication

    if sys.platform == "linux":
        # pages need no screen, and Qt aborts when DISPLAY names one that is gone
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return QCoreApplication.instance() or QGuiApplication([])


def _to_the_end(kind: type[S], start: Callable[[S], None], result: type[T], say: Say) -> T:
    kept = application()
    jobs, processes = Jobs(), Processes()
    steps = kind(jobs, processes)
    ends: list[object] = []
    loop = QEventLoop(kept)
    steps.step_started.connect(lambda name: say(f"{name} ..."))
    changes = _Changes(say)
    steps.progressed.connect(lambda _percent, text: changes.tell(text))
    for ended in (steps.step_ended, steps.step_failed):
        ended.connect(lambda name, seconds, text: say(f"{name}: {text} ({seconds:.1f} s)"))
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


class _Changes:
    """Passes on what is being done when it changed, without the percentages."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._last = ""

    def tell(self, text: str) -> None:
        """Say a text that is new."""
        if text and text != self._last:
            self._last = text
            self._say(f"  {text}")


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
