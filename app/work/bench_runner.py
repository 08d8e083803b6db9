"""Measures both rates of a model with llama-bench, and watches the computer meanwhile."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from PySide6.QtCore import Signal

from app.core import units
from app.core.bench import BenchRun
from app.core.errors import UserError
from app.core.evidence import GpuWatch, MemoryWatch
from app.core.machine import Program
from app.core.request import LoadRequest, Tool
from app.core.track import Track
from app.runtimes import llama_argv
from app.work import bench_output
from app.work.outcome import End, Outcome
from app.work.rpc_servers import own_processes
from app.work.steps import Script, Steps
from app.work.watch import Watch, Watched, busy_text

# stderr with --progress (logs.md section 5; tests/data/logs/b11434-llama-bench-progress.log)
_PROGRESS = re.compile(
    r"llama-bench: benchmark (\d+)/(\d+): (warmup )?(prompt|generation|depth) run"
    r"(?: (\d+)/(\d+))?"
)
_TITLE = "llama-bench could not measure the model"


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What to measure; the request's context is not used, llama-bench sizes its own."""

    program: Program  # llama-bench
    model_path: str
    request: LoadRequest = field(default_factory=lambda: LoadRequest(tool=Tool.BENCH))
    n_prompt: int = 512
    n_gen: int = 128
    depth: int = 0
    repetitions: int = 5
    env: tuple[tuple[str, str], ...] = ()

    def argv(self) -> tuple[str, ...]:
        """Return the command."""
        return llama_argv.bench_argv(
            self.program, self.model_path, self.request, n_prompt=self.n_prompt,
            n_gen=self.n_gen, depth=self.depth, repetitions=self.repetitions,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What was measured, and what the computer did meanwhile; None = not watched."""

    runs: tuple[BenchRun, ...]
    watch: MemoryWatch | None
    command: tuple[str, ...]
    left_out: tuple[str, ...] = ()  # settings that this program cannot be told
    gpu_watch: GpuWatch | None = None
    track: Track | None = None

    @property
    def watched(self) -> Watched | None:
        """Return what the computer did meanwhile, None when it was not watched."""
        return None if self.watch is None else Watched(self.watch, self.gpu_watch, self.track)


class BenchRunner(Steps):
    """Runs one plan at a time; done brings a BenchResult."""

    run_measured = Signal(object)  # a BenchRun, as soon as its row arrives

    def start(self, plan: BenchPlan) -> None:
        """Measure; everything else comes by signals."""
        self.run(self._measured(plan))

    def _measured(self, plan: BenchPlan) -> Script[BenchResult]:
        self.begin("Measuring with llama-bench")
        result = yield from measure(self, plan, self.run_measured.emit)
        self.end(summary(result.runs))
        return result


class _Seen:
    """What a running llama-bench has said so far."""

    def __init__(self, plan: BenchPlan, watch: Watch, progress: Callable[[int, str], None],
                 told: Callable[[BenchRun], None]) -> None:  # fmt: skip
        self.runs: list[BenchRun] = []
        self.complaints: list[str] = []
        self._plan = plan
        self._watch = watch
        self._progress = progress
        self._told = told

    def on_line(self, line: str) -> None:
        """Take a line of the standard output: a row."""
        run = bench_output.parse_line(line)
        if run is not None:
            self.runs.append(run)
            self._watch.sample()
            self._told(run)

    def on_error_line(self, line: str) -> None:
        """Take a line of stderr: how far it is, or what went wrong."""
        stage = stage_of(line, self._plan.repetitions)
        if stage is None:
            if line.strip() and not line.startswith("llama-bench: benchmark"):
                self.complaints.append(line.strip())
            return
        self._watch.start()  # the model is loaded: what moves now, moves while it computes
        self._progress(*stage)


def measure(
    steps: Steps, plan: BenchPlan, told: Callable[[BenchRun], None] = lambda _run: None
) -> Script[BenchResult]:
    """Run llama-bench as a part of a script; UserError when it gives no rates."""
    argv = plan.argv()
    also = yield from own_processes(steps, plan.request)
    watch = Watch(steps.jobs, also=also)
    seen = _Seen(plan, watch, steps.progressed.emit, told)
    end = steps.program(argv, env=dict(plan.env))
    end.process.line_read.connect(seen.on_line)
    end.process.error_line_read.connect(seen.on_error_line)
    if not plan.program.supports("--progress"):
        watch.start()
    try:
        outcome: Outcome = yield end
    finally:
        seen_by = watch.stop()
    if not outcome.is_success or not seen.runs:
        raise failure(outcome, seen.complaints)
    left_out = llama_argv.bench_options(plan.request, plan.program).left_out
    memory = seen_by.memory if seen_by else None
    return BenchResult(
        stamped(seen.runs, busy_text(memory)), memory, argv, left_out,
        seen_by.gpu if seen_by else None, seen_by.track if seen_by else None,
    )  # fmt: skip


def stage_of(line: str, repetitions: int) -> tuple[int, str] | None:
    """Return how far a progress line says it is, in per cent and in words; None for others."""
    match = _PROGRESS.match(line)
    if match is None:
        return None
    test, tests, warmup, what, number = match[1], match[2], match[3], match[4], match[5]
    parts = repetitions + 1  # and the warm-up, which is thrown away
    done = 0 if warmup else int(number or 1)
    percent = 100 * ((int(test) - 1) * parts + done) // (int(tests) * parts)
    if warmup:
        return percent, f"Warming up ({what})"
    return percent, f"{what.capitalize()} run {number or 1} of {match[6] or repetitions}"


def stamped(runs: list[BenchRun], busy: str) -> tuple[BenchRun, ...]:
    """Give the rates of one run their common id, the time and what disturbed it."""
    run_id = secrets.token_hex(6)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return tuple(replace(run, run_id=run_id, busy=busy, started=run.started or now) for run in runs)


def summary(runs: tuple[BenchRun, ...]) -> str:
    """Return the rates in words, for a step's line."""
    return ", ".join(f"{run.test.value} {units.rate(run.mean_tps)}" for run in runs)


def failure(outcome: Outcome, complaints: list[str]) -> UserError:
    """Say why there are no rates, in llama-bench's own words and in ours."""
    said = [line for line in complaints if "error" in line.lower() or "fail" in line.lower()]
    detail = outcome.sentence()
    if outcome.is_success:
        detail = "It ended without a rate."
    if said or complaints:
        # the last line of a failure says what it means for llama-bench, the first one why
        words = list(dict.fromkeys(((said or complaints)[0], (said or complaints)[-1])))
        detail += f" It said: {'; '.join(words)[:400]}"
    return UserError(_TITLE, detail, _advice(outcome, " ".join(complaints)))


def _advice(outcome: Outcome, text: str) -> str:
    if outcome.end is End.NOT_STARTED:
        return "Choose the folder of a complete llama.cpp."
    if "failed to create context" in text:
        return "Use fewer layers on the device, a smaller depth or a smaller cache type."
    if "invalid parameter" in text or "invalid argument" in text or "usage:" in text:
        return "This llama-bench does not know one of the options; a newer one may."
    if "failed to load model" in text:
        return "Run Diagnose: it shows why the model does not load."
    if outcome.signal_number == 9 or outcome.code == 137:
        return "Close other programs, or choose fewer layers or a smaller model."
    return "Run Diagnose: it loads the model step by step."
