"""The bench runner with a stand-in that prints what llama-bench printed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.machine import Program
from app.core.request import LoadRequest, Tool
from app.work import bench_output
from app.work.bench_runner import BenchPlan, BenchResult, BenchRunner, stage_of
from app.work.jobs import Jobs
from app.work.process import Processes
from tests.work import stand_ins


@pytest.fixture
def runner(qapp: QCoreApplication) -> Iterator[BenchRunner]:
    made = BenchRunner(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


class Story:
    """What a runner said."""

    def __init__(self, runner: BenchRunner) -> None:
        self.progress: list[tuple[int, str]] = []
        self.rows: list[BenchRun] = []
        self.ends: list[object] = []
        runner.progressed.connect(lambda percent, text: self.progress.append((percent, text)))
        runner.run_measured.connect(self.rows.append)
        runner.done.connect(self.ends.append)
        runner.failed.connect(self.ends.append)
        runner.cancelled.connect(lambda: self.ends.append("cancelled"))


def _run(runner: BenchRunner, plan: BenchPlan, qtbot: QtBot) -> Story:
    story = Story(runner)
    runner.start(plan)
    qtbot.waitUntil(lambda: not runner.is_running, timeout=20_000)
    assert len(story.ends) == 1
    return story


def _plan(program: Program, **changes: object) -> BenchPlan:
    return BenchPlan(program, "/models/gemma.gguf", repetitions=2, **changes)  # type: ignore[arg-type]  # named by the test


def test_brings_both_rates_with_one_id_and_the_progress_in_words(
    runner: BenchRunner, qtbot: QtBot, tmp_path: Path
) -> None:
    stand_in = stand_ins.bench(tmp_path)
    story = _run(runner, _plan(stand_in.program), qtbot)
    (result,) = story.ends
    assert isinstance(result, BenchResult)
    assert [run.test for run in result.runs] == [Test.PROMPT, Test.GENERATION]
    captured = bench_output.read_file(stand_ins.ROWS).runs
    assert [run.samples_tps for run in result.runs] == [run.samples_tps for run in captured]
    assert len({run.run_id for run in result.runs}) == 1
    assert result.runs[0].run_id
    assert [run.test for run in story.rows] == [Test.PROMPT, Test.GENERATION]
    assert story.progress == [
        (0, "Warming up (prompt)"),
        (16, "Prompt run 1 of 2"),
        (33, "Prompt run 2 of 2"),
        (50, "Warming up (generation)"),
        (66, "Generation run 1 of 2"),
        (83, "Generation run 2 of 2"),
    ]


def test_asks_for_what_the_plan_says(runner: BenchRunner, qtbot: QtBot, tmp_path: Path) -> None:
    stand_in = stand_ins.bench(tmp_path)
    request = LoadRequest(
        tool=Tool.BENCH, ngl=9, threads=1, cache_type_k="q8_0", cache_type_v="q8_0"
    )
    plan = _plan(stand_in.program, request=request, n_prompt=64, n_gen=16, depth=128)
    _run(runner, plan, qtbot)
    words = stand_in.told.split()
    for flag, value in (("-m", "/models/gemma.gguf"), ("-p", "64"), ("-n", "16"), ("-d", "128"),
                        ("-r", "2"), ("-o", "jsonl")):  # fmt: skip
        assert words[words.index(flag) + 1] == value
    assert "--progress" in words


@pytest.mark.parametrize(
    ("complaint", "advice"),
    [
        (stand_ins.LOGS / "b11434-llama-bench-error-missing-file.log", "why the model does not"),
        (stand_ins.LOGS / "b11434-llama-bench-error-oom-depth.log", "smaller depth"),
        ("error: invalid parameter for argument: --progress", "does not know one of the options"),
    ],
)
def test_says_why_it_could_not_measure(
    complaint: Path | str, advice: str, runner: BenchRunner, qtbot: QtBot, tmp_path: Path
) -> None:
    text = complaint if isinstance(complaint, str) else complaint.read_text()
    stand_in = stand_ins.bench(tmp_path, complaint=text)
    (error,) = _run(runner, _plan(stand_in.program), qtbot).ends
    assert isinstance(error, UserError)
    assert error.title == "llama-bench could not measure the model"
    assert "exit code 1" in error.detail
    assert "It said: " in error.detail
    assert advice in error.advice


def test_says_so_when_the_program_is_not_there(runner: BenchRunner, qtbot: QtBot) -> None:
    (error,) = _run(runner, _plan(Program("llama-bench", "/no/llama-bench")), qtbot).ends
    assert isinstance(error, UserError)
    assert "no such file" in error.detail
    assert "complete llama.cpp" in error.advice


def test_ends_at_once_when_cancelled(runner: BenchRunner, qtbot: QtBot, tmp_path: Path) -> None:
    stand_in = stand_ins.bench(tmp_path, hangs=True)
    story = Story(runner)
    runner.start(_plan(stand_in.program))
    qtbot.waitUntil(lambda: bool(story.progress), timeout=10_000)
    runner.cancel()
    qtbot.waitUntil(lambda: not runner.is_running, timeout=10_000)
    assert story.ends == ["cancelled"]
    assert runner._processes.running() == 0


def test_can_measure_again_after_a_failure(
    runner: BenchRunner, qtbot: QtBot, tmp_path: Path
) -> None:
    _run(runner, _plan(Program("llama-bench", "/no/llama-bench")), qtbot)
    (result,) = _run(runner, _plan(stand_ins.bench(tmp_path).program), qtbot).ends
    assert isinstance(result, BenchResult)


def test_never_goes_back_through_a_captured_progress() -> None:
    text = (stand_ins.LOGS / "b11434-llama-bench-progress.log").read_text()
    stages = [stage for line in text.splitlines() if (stage := stage_of(line, 2))]
    assert [percent for percent, _ in stages] == sorted(percent for percent, _ in stages)
    assert len(stages) == 6
