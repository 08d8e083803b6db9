"""The load probe with a stand-in server: ready, failing, crashing, silent, and its own log."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app import paths
from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.evidence import LoadOutcome
from app.core.request import LoadRequest
from app.work import load_probe, server_bench
from app.work.jobs import Jobs
from app.work.load_probe import Load, LoadPlan
from app.work.process import Processes
from app.work.server_bench import ServerPlan
from app.work.steps import Script, Steps
from tests.work import stand_ins
from tests.work.stand_ins import StandIn

DIES = "print('llama_model_load: error loading model: no', file=sys.stderr); sys.exit(1)"


@pytest.fixture
def steps(qapp: QCoreApplication) -> Iterator[Steps]:
    made = Steps(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


def _finish(steps: Steps, script: Script[object], qtbot: QtBot) -> object:
    ends: list[object] = []
    steps.done.connect(ends.append)
    steps.failed.connect(ends.append)
    steps.run(script)
    qtbot.waitUntil(lambda: not steps.is_running, timeout=20_000)
    return ends[0]


def _load(
    steps: Steps, server: StandIn, qtbot: QtBot, *, timeout_s: float = 20.0
) -> tuple[Load, LoadOutcome]:
    """Load, stop, and return both."""
    plan = LoadPlan(server.program, "/models/gemma.gguf", LoadRequest(ngl=9, ctx=4096), timeout_s)

    def script() -> Script[object]:
        load = yield from load_probe.start(steps, plan)
        stopped = yield from load_probe.stop(load)
        return load, load.outcome(stopped)

    result = _finish(steps, script(), qtbot)
    assert isinstance(result, tuple), result
    return result


def test_waits_until_the_model_is_loaded_and_keeps_the_log(
    steps: Steps, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path)
    load, outcome = _load(steps, server, qtbot)
    assert load.is_ready
    assert outcome.is_ready and outcome.exit_text == ""
    assert outcome.load_s is not None and outcome.load_s > 0
    # 503 was no reason to begin
    assert load.log_path.read_text() == stand_ins.LOG_ON_DEVICE.read_text()
    assert load.log_path.parent == paths.user_cache() / "loads"


def test_starts_a_server_that_only_this_computer_reaches(
    steps: Steps, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path)
    load, _ = _load(steps, server, qtbot)
    words = server.told.split()
    for flag, value in (("--host", "127.0.0.1"), ("-lv", "4"), ("-ngl", "9"), ("-c", "4096")):
        assert words[words.index(flag) + 1] == value
    assert load.endpoint.key not in server.told
    assert load.endpoint.key not in load.log_path.read_text()
    assert len(load.endpoint.key) >= 32


def test_says_how_the_server_ended_when_the_model_does_not_load(
    steps: Steps, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path, log=stand_ins.LOG_NO_MEMORY, end=DIES)
    load, outcome = _load(steps, server, qtbot)
    assert not load.is_ready
    assert not outcome.is_ready
    assert outcome.load_s is None
    assert "exit code 1" in outcome.exit_text
    assert "error loading model: no" in load.log_path.read_text()


def test_names_a_crash_while_loading(steps: Steps, qtbot: QtBot, tmp_path: Path) -> None:
    server = stand_ins.server(tmp_path, end="os.kill(os.getpid(), 11)")
    _, outcome = _load(steps, server, qtbot)
    assert "invalid memory access" in outcome.exit_text


def test_gives_up_when_the_time_is_over(steps: Steps, qtbot: QtBot, tmp_path: Path) -> None:
    server = stand_ins.server(tmp_path, end="time.sleep(60)")
    load, outcome = _load(steps, server, qtbot, timeout_s=0.3)
    assert "was not ready after" in outcome.exit_text
    assert not load.end.process.is_running


def test_tries_another_port_when_a_program_was_faster(
    steps: Steps, qtbot: QtBot, tmp_path: Path
) -> None:
    # the words of b11434-port-in-use-default-verbosity.log
    end = (
        "if tries.read_text() == '1':\n"
        "    print('E srv start: couldn\\'t bind HTTP server socket, port: 1', file=sys.stderr)\n"
        "    sys.exit(1)"
    )
    server = stand_ins.server(tmp_path, end=end)
    load, outcome = _load(steps, server, qtbot)
    assert outcome.is_ready
    assert (tmp_path / "server.told.tries").read_text() == "2"
    assert "couldn't bind" not in load.log_path.read_text()


def test_says_so_when_the_server_died_after_it_was_ready(
    steps: Steps, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path, on_request="os.kill(os.getpid(), 11)")
    plan = LoadPlan(server.program, "/models/gemma.gguf", LoadRequest())
    errors: list[UserError] = []

    def script() -> Script[object]:
        load = yield from load_probe.start(steps, plan)
        try:
            yield steps.job(
                lambda cancel, progress: server_bench.measure(
                    load.endpoint, ServerPlan(), cancel, progress
                ),
                "rates",
            )
        except UserError as error:
            errors.append(error)
        stopped = yield from load_probe.stop(load)
        return load.outcome(stopped)

    outcome = _finish(steps, script(), qtbot)
    assert isinstance(outcome, LoadOutcome)
    assert outcome.is_ready
    assert "invalid memory access" in outcome.exit_text
    assert errors[0].title == "llama-server stopped answering while it was measured"


def test_keeps_the_newest_logs_only() -> None:
    folder = paths.user_cache() / "loads"
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"2026010{number // 10}-00000{number % 10}-m.log").touch()
    new = load_probe.new_log_path("/models/gemma 3 (it).gguf")
    assert len(list(folder.glob("*.log"))) == load_probe.KEEP_LOGS - 1
    assert not (folder / "20260100-000000-m.log").exists()
    assert (folder / "20260102-000009-m.log").exists()
    assert "gemma_3_it" in new.name


def _measure(steps: Steps, server: StandIn, plan: ServerPlan, qtbot: QtBot) -> object:
    def script() -> Script[object]:
        load = yield from load_probe.start(
            steps, LoadPlan(server.program, "/models/gemma.gguf", LoadRequest())
        )
        runs = yield steps.job(
            lambda cancel, progress: server_bench.measure(load.endpoint, plan, cancel, progress),
            "rates",
        )
        return runs

    return _finish(steps, script(), qtbot)


def test_measures_through_the_server_and_throws_the_first_away(
    steps: Steps, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path)
    runs = _measure(steps, server, ServerPlan(64, 16, 3, model_name="gemma.gguf"), qtbot)
    assert isinstance(runs, tuple)
    prompt, generation = runs
    assert isinstance(prompt, BenchRun) and isinstance(generation, BenchRun)
    assert (prompt.test, prompt.n_tokens, prompt.instrument) == (Test.PROMPT, 64, "llama-server")
    assert prompt.samples_tps == (200.0, 200.0, 200.0)
    # 16 tokens are 15 steps, 100 ms each
    assert (generation.test, generation.n_tokens) == (Test.GENERATION, 16)
    assert generation.samples_tps == (10.0, 10.0, 10.0)
    requests = server.told.splitlines()[1:]
    assert len(requests) == 8
    assert all('"cache_prompt": false' in line for line in requests)
    assert all('"ignore_eos": true' in line for line in requests)


def test_asks_for_no_more_than_the_context_holds(
    steps: Steps, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path, n_ctx=128)
    runs = _measure(steps, server, ServerPlan(512, 256, 1), qtbot)
    assert isinstance(runs, tuple)
    assert [run.n_tokens for run in runs] == [120, 120]


def test_says_so_when_the_answer_has_no_timings(steps: Steps, qtbot: QtBot, tmp_path: Path) -> None:
    server = stand_ins.server(tmp_path, on_request="return self.answer(200, {'content': ''})")
    error = _measure(steps, server, ServerPlan(8, 4, 1), qtbot)
    assert isinstance(error, UserError)
    assert "no timings" in error.detail


def test_passes_on_what_the_server_refuses(steps: Steps, qtbot: QtBot, tmp_path: Path) -> None:
    refusal = "return self.answer(400, {'error': {'message': 'prompt too long'}})"
    server = stand_ins.server(tmp_path, on_request=refusal)
    error = _measure(steps, server, ServerPlan(8, 4, 1), qtbot)
    assert isinstance(error, UserError)
    assert "status 400: prompt too long" in error.detail


@pytest.mark.parametrize(
    "timings",
    [{}, {"predicted_n": 1, "predicted_ms": 5.0}, {"predicted_n": 5, "predicted_ms": 0.0},
     {"predicted_n": "many", "predicted_ms": 1.0}, {"predicted_n": 5, "predicted_ms": None}],
)  # fmt: skip
def test_makes_no_rate_of_strange_timings(timings: dict[str, object]) -> None:
    with pytest.raises(UserError):
        server_bench.rate_of(Test.GENERATION, timings)
