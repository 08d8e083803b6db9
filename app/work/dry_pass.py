"""Asks the user's own llama.cpp what a load takes: its dry pass reads the header alone."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Slot

from app.core import said as saying
from app.core.errors import UserError
from app.core.log import Fact, LogEvent
from app.core.machine import Machine, Program
from app.core.model import Model
from app.core.placement import Placement
from app.core.request import LoadRequest, Tool
from app.core.said import Said, SaidRow
from app.core.units import MIB
from app.logs.scan import scan
from app.runtimes import llama_argv
from app.work import header_copy
from app.work.load_probe import free_port
from app.work.outcome import Outcome
from app.work.process import Process
from app.work.steps import Script, Steps

_TITLE = "llama.cpp did not say what the load takes"
_ATTEMPTS = 3  # the log is written by a thread of its own: its end is lost now and then
_TABLE = "memory breakdown [MiB]"
_ROW = "common_memory_breakdown_print"
_LOADS = ("load_tensors: loading model tensors", "offloaded ")


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask which program; expected names the buffers that are calculated to hold weights."""

    program: Program
    build: int | None
    model: Model
    request: LoadRequest
    expected: tuple[str, ...] = ()
    timeout_s: float = 30.0
    env: tuple[tuple[str, str], ...] = ()


def question_of(
    model: Model, request: LoadRequest, machine: Machine | None, placed: Placement | None = None
) -> Question | None:
    """Return the question for the llama.cpp that listed the devices; None when there is none.

    llama-server is asked for itself. llama-bench has no dry pass; llama-fit-params reserves the
    same, so it is asked for both.
    """
    name = program_name(request.tool)
    runtimes = machine.runtimes if machine else ()
    source = machine.devices_source if machine else ""
    asked = source.partition(" --list-devices")[0]
    ordered = sorted(runtimes, key=lambda r: asked not in {p.path for p in r.programs})
    for runtime in ordered:
        program = runtime.executable(name)
        if program is not None:
            expected = expected_of(placed) if placed else ()
            return Question(program, runtime.build, model, request, expected)
    return None


def program_name(tool: Tool) -> str:
    """Return the program that answers for another."""
    return Tool.SERVER.value if tool is Tool.SERVER else Tool.FIT_PARAMS.value


def expected_of(placed: Placement) -> tuple[str, ...]:
    """Return the buffers that must have a row in the table."""
    return tuple(row.buffer for row in placed.rows if row.weights_bytes >= 2 * MIB)


class DryPass(Steps):
    """Asks one question at a time; done brings a Said."""

    def start(self, question: Question) -> None:
        """Ask; everything else comes by signals."""
        self.run(ask(self, question))


def ask(steps: Steps, question: Question) -> Script[Said]:
    """Run the program until its table is there; nothing of it, and no copy, is left behind."""
    with header_copy.readable(question.model) as path:
        for attempt in range(_ATTEMPTS):
            answer = yield from _once(steps, question, path)
            names = {row.buffer for row in answer.rows}
            if names.issuperset(question.expected) or attempt == _ATTEMPTS - 1:
                break
    if not answer.rows:
        raise UserError(_TITLE, answer.why, answer.advice)
    return Said(
        rows=answer.rows,
        program=question.program.name,
        build=question.build,
        command=(*answer.argv[:2], question.model.path, *answer.argv[3:]),
        request=question.request,
        seconds=answer.seconds,
        is_sparse_copy=header_copy.needs_copy(question.model),
    )


def compared(found: Said, placed: Placement) -> Said:
    """Return the answer with its differences from what was calculated."""
    return replace(found, differences=saying.apart(saying.compare(placed, found)))


@dataclass(frozen=True, slots=True)
class _Answer:
    """One attempt; without rows there is a reason."""

    rows: tuple[SaidRow, ...]
    argv: tuple[str, ...]
    seconds: float
    why: str = ""
    advice: str = ""


def _once(steps: Steps, question: Question, path: str) -> Script[_Answer]:
    argv = _argv(question, path)
    started = time.monotonic()
    env = {**dict(question.env), llama_argv.API_KEY_VARIABLE: secrets.token_urlsafe(24)}
    end = steps.program(argv, merge=True, env=env)
    watch = _Watch(end.process, question.timeout_s, steps)
    outcome: Outcome = yield end
    seconds = time.monotonic() - started
    rows = _rows(watch.lines)
    if rows:
        return _Answer(rows, argv, seconds)
    return _Answer((), argv, seconds, _why(watch, outcome), _advice(watch))


def _argv(question: Question, path: str) -> tuple[str, ...]:
    program, request = question.program, question.request
    if program.name == Tool.SERVER.value:
        return llama_argv.server_argv(program, path, request, port=free_port())
    words = llama_argv.server_options(request, program).words
    table = ("-fit", "on", "--fit-print", "on", "-lv", str(llama_argv.PLACEMENT_VERBOSITY))
    return (program.path, "-m", path, *words, *table)


def _rows(lines: list[str]) -> tuple[SaidRow, ...]:
    loads = scan(lines).loads
    events = [e for load in loads for e in (load.projection or load.breakdown)]
    return tuple(_row(event) for event in events)


def _row(event: LogEvent) -> SaidRow:
    is_host = event.fact is Fact.BREAKDOWN_HOST
    return SaidRow(
        buffer=event.word("row" if is_host else "device"),
        is_host=is_host,
        weights_mib=event.whole("model"),
        context_mib=event.whole("context"),
        compute_mib=event.whole("compute"),
    )


def _why(watch: "_Watch", outcome: Outcome) -> str:
    if watch.is_late:
        return f"It printed no memory table within {watch.timeout_s:g} seconds."
    if watch.is_loading:
        return "It began to load without a dry pass (a build before December 2025, or --fit off)."
    errors = [e for load in scan(watch.lines).loads for e in load.errors]
    return errors[0].text if errors else outcome.sentence()


def _advice(watch: "_Watch") -> str:
    return "Use a newer build to see its own figure." if watch.is_loading else ""


class _Watch(QObject):
    """Keeps the lines and ends the program once its first table is complete, or at the latest."""

    def __init__(self, process: Process, timeout_s: float, parent: QObject) -> None:
        super().__init__(parent)
        self.lines: list[str] = []
        self.is_late = self.is_loading = False
        self.timeout_s = timeout_s
        self._stop: Callable[[], None] = lambda: process.stop(at_once=True)
        self._has_table = self._is_over = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_late)
        self._timer.start(int(timeout_s * 1000))
        process.line_read.connect(self._on_line)
        process.ended.connect(self._on_ended)

    @Slot(str)
    def _on_line(self, line: str) -> None:
        if self._is_over:
            return
        if _TABLE in line:
            self._has_table = True
        elif self._has_table and _ROW not in line:
            self._end()
            return
        elif any(words in line for words in _LOADS):
            self.is_loading = True
            self._end()
        self.lines.append(line)

    def _end(self) -> None:
        """End the program at once: it would load the weights next."""
        self._is_over = True
        self._stop()

    @Slot()
    def _on_late(self) -> None:
        self.is_late = True
        self._end()

    @Slot(object)
    def _on_ended(self, _outcome: Outcome) -> None:
        self._timer.stop()
        self.deleteLater()
