"""The guided run with stand-ins: each way it can go, and a cancel at each step."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.log import BufferKind, LoadStory, LogBuffer, Role
from app.core.machine import Machine, Program, Runtime
from app.core.request import LoadRequest, Tool
from app.work import diagnose_run, record
from app.work.diagnose_run import (
    FIND_PROGRAMS,
    LOAD_MODEL,
    MEASURE,
    READ_HEADER,
    READ_LOG,
    DiagnosePlan,
    DiagnoseResult,
    DiagnoseRun,
    bench_request,
    placed_layers,
)
from app.work.jobs import Jobs
from app.work.process import Processes
from tests.core.test_forecast import fitted_mixture
from tests.work import stand_ins
from tests.work.stand_ins import StandIn

DIES = "print('llama_model_load: error loading model: no', file=sys.stderr); sys.exit(1)"


@pytest.fixture
def run(qapp: QCoreApplication) -> Iterator[DiagnoseRun]:
    made = DiagnoseRun(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


class Story:
    """What a run said."""

    def __init__(self, run: DiagnoseRun) -> None:
        self.started: list[str] = []
        self.ended: list[str] = []
        self.failed: list[str] = []
        self.texts: dict[str, str] = {}
        self.ends: list[object] = []
        run.step_started.connect(self.started.append)
        run.step_ended.connect(self._on_step_ended)
        run.step_failed.connect(self._on_step_failed)
        run.done.connect(self.ends.append)
        run.failed.connect(self.ends.append)
        run.cancelled.connect(lambda: self.ends.append("cancelled"))

    def _on_step_ended(self, name: str, seconds: float, text: str) -> None:
        assert seconds >= 0
        self.ended.append(name)
        self.texts[name] = text

    def _on_step_failed(self, name: str, seconds: float, text: str) -> None:
        self._on_step_ended(name, seconds, text)
        self.failed.append(name)

    def result(self) -> DiagnoseResult:
        (end,) = self.ends
        assert isinstance(end, DiagnoseResult), end
        return end


def _plan(folder: Path, *programs: StandIn) -> DiagnosePlan:
    request = LoadRequest(ngl=9, ctx=4096, threads=1, n_cpu_moe=0)
    base = replace(stand_ins.evidence(*programs), symptom="slow-writing")
    return DiagnosePlan(
        str(stand_ins.model(folder)), request, base=base, n_prompt=64, n_gen=16, repetitions=2
    )


def _run(run: DiagnoseRun, plan: DiagnosePlan, qtbot: QtBot) -> Story:
    story = Story(run)
    run.start(plan)
    qtbot.waitUntil(lambda: not run.is_running, timeout=30_000)
    return story


def test_makes_one_evidence_of_all_steps(run: DiagnoseRun, qtbot: QtBot, tmp_path: Path) -> None:
    bench, server = stand_ins.bench(tmp_path), stand_ins.server(tmp_path)
    plan = _plan(tmp_path, server, bench)
    story = _run(run, plan, qtbot)
    assert story.started == [READ_HEADER, FIND_PROGRAMS, LOAD_MODEL, READ_LOG, MEASURE]
    assert story.ended == story.started
    assert story.texts[READ_LOG] == "29.34 MiB of weights on devices"
    result = story.result()
    evidence = result.evidence
    assert evidence.model is not None and evidence.model.name == "sample model.gguf"
    assert evidence.outcome is not None and evidence.outcome.is_ready
    assert evidence.log is not None and evidence.log.load is not None
    assert evidence.log.load.offload_line == (9, 19)
    assert [rate.test for rate in evidence.runs] == [Test.PROMPT, Test.GENERATION]
    assert evidence.runs[0].instrument == "llama-bench"
    assert evidence.watch is not None
    assert evidence.request == plan.request
    assert evidence.symptom == "slow-writing"
    assert evidence.notes == ()
    assert Path(result.log_path).read_text() == stand_ins.LOG_ON_DEVICE.read_text()


def test_measures_with_the_placement_that_happened(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    # the log says "offloaded 13/13", and every buffer is on the host
    bench = stand_ins.bench(tmp_path)
    server = stand_ins.server(tmp_path, log=stand_ins.LOG_DEVICE_NONE)
    plan = _plan(tmp_path, server, bench)
    story = _run(run, replace(plan, request=replace(plan.request, ngl=99)), qtbot)
    words = bench.told.split()
    assert words[words.index("-ngl") + 1] == "0"
    assert story.texts[READ_LOG] == "all on the processor"
    log = story.result().evidence.log
    assert log is not None and log.load is not None
    assert log.load.offload_line == (13, 13)


def test_measures_through_the_server_when_there_is_no_bench(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path)
    story = _run(run, _plan(tmp_path, server), qtbot)
    assert story.started == [READ_HEADER, FIND_PROGRAMS, LOAD_MODEL, MEASURE, READ_LOG]
    assert story.ended == story.started
    evidence = story.result().evidence
    assert [rate.instrument for rate in evidence.runs] == ["llama-server"] * 2
    # labelled with what the log shows, not with what was asked
    assert evidence.runs[1].setting("n_gpu_layers") == "9"
    assert evidence.runs[1].backends == "Vulkan0"
    assert evidence.runs[0].n == 2
    assert any("no llama-bench beside" in note for note in evidence.notes)
    assert evidence.watch is not None


def test_measures_fewer_tokens_when_the_model_is_very_slow(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    slow = (
        "return self.answer(200, {'timings': {'prompt_n': 64, 'prompt_ms': 16000.0,"
        " 'predicted_n': 5, 'predicted_ms': 2000.0}})"
    )
    bench = stand_ins.bench(tmp_path)
    server = stand_ins.server(tmp_path, on_request=slow)
    story = _run(run, replace(_plan(tmp_path, server, bench), n_prompt=512, n_gen=128), qtbot)
    words = bench.told.split()
    # 4 tokens per second of prompt, 2 of generation, a minute for each rate, 3 runs
    assert words[words.index("-p") + 1] == "80"
    assert words[words.index("-n") + 1] == "40"
    assert "80 prompt and 40 generated tokens" in story.result().evidence.notes[0]


def test_measures_a_least_number_of_tokens(tmp_path: Path) -> None:
    plan = replace(_plan(tmp_path), n_prompt=512, n_gen=128, repetitions=3)
    shorter = diagnose_run.shortened(plan, 0.01, 0.01)
    assert (shorter.n_prompt, shorter.n_gen) == (64, 16)
    assert diagnose_run.shortened(plan, 1e4, 1e3) == plan


def test_still_answers_when_there_is_no_llama_cpp(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    story = _run(run, _plan(tmp_path), qtbot)
    assert story.texts[FIND_PROGRAMS] == "no llama.cpp found"
    result = story.result()
    assert result.log_path == ""
    evidence = result.evidence
    assert evidence.model is not None
    assert evidence.log is None and evidence.outcome is None and evidence.runs == ()
    assert "No llama-server was found" in evidence.notes[0]
    assert "No llama-bench was found" in evidence.notes[1]


def test_measures_with_bench_alone_when_there_is_no_server(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    bench = stand_ins.bench(tmp_path)
    evidence = _run(run, _plan(tmp_path, bench), qtbot).result().evidence
    assert len(evidence.runs) == 2
    assert evidence.log is None
    words = bench.told.split()
    assert words[words.index("-ngl") + 1] == "9"
    assert len(evidence.notes) == 1


def test_keeps_the_log_of_a_load_that_failed_and_measures_nothing(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    bench = stand_ins.bench(tmp_path)
    server = stand_ins.server(tmp_path, log=stand_ins.LOG_NO_MEMORY, end=DIES)
    story = _run(run, _plan(tmp_path, server, bench), qtbot)
    assert story.started == [READ_HEADER, FIND_PROGRAMS, LOAD_MODEL, READ_LOG]
    evidence = story.result().evidence
    assert evidence.outcome is not None and not evidence.outcome.is_ready
    assert "exit code 1" in evidence.outcome.exit_text
    assert evidence.log is not None and evidence.log.load is not None
    assert evidence.log.load.errors
    assert evidence.runs == ()
    assert bench.told == ""


def test_says_why_when_the_rates_could_not_be_measured(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    bench = stand_ins.bench(tmp_path, complaint="llama_bench: error: failed to load model")
    story = _run(run, _plan(tmp_path, stand_ins.server(tmp_path), bench), qtbot)
    evidence = story.result().evidence
    assert evidence.runs == ()
    assert "failed to load model" in evidence.notes[0]
    assert story.texts[MEASURE] == "llama-bench could not measure the model"
    assert story.failed == [MEASURE]


def test_says_why_when_the_server_died_at_its_first_request(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path, on_request="os.kill(os.getpid(), 11)")
    story = _run(run, _plan(tmp_path, server), qtbot)
    evidence = story.result().evidence
    assert evidence.outcome is not None
    assert "invalid memory access" in evidence.outcome.exit_text
    assert evidence.log is not None
    assert "ended at its first request" in evidence.notes[0]
    assert story.ended == story.started


def test_says_why_when_the_server_died_while_it_was_measured(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    dies = "if body['n_predict'] == 16: os.kill(os.getpid(), 11)"
    server = stand_ins.server(tmp_path, on_request=dies)
    story = _run(run, _plan(tmp_path, server), qtbot)
    evidence = story.result().evidence
    assert evidence.outcome is not None
    assert "invalid memory access" in evidence.outcome.exit_text
    assert "ended while it was measured" in evidence.notes[0]
    assert story.ended == story.started


def test_fails_when_the_file_is_no_model(run: DiagnoseRun, qtbot: QtBot, tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    Path(plan.model_path).write_text("<html>Not found</html>")
    story = _run(run, plan, qtbot)
    (error,) = story.ends
    assert isinstance(error, UserError)
    assert "not a GGUF" in error.title


@pytest.mark.parametrize("step", [READ_HEADER, FIND_PROGRAMS, LOAD_MODEL, READ_LOG, MEASURE])
@pytest.mark.parametrize("has_bench", [True, False])
def test_cancels_at_each_step_and_leaves_nothing(
    step: str, has_bench: bool, run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    programs = [stand_ins.server(tmp_path)]
    if has_bench:
        programs.append(stand_ins.bench(tmp_path, hangs=True))
    story = Story(run)
    running: list[int] = []
    run.step_started.connect(lambda name: run.cancel() if name == step else None)
    run.finished.connect(lambda: running.append(run._processes.running()))
    run.start(_plan(tmp_path, *programs))
    qtbot.waitUntil(lambda: not run.is_running, timeout=30_000)
    if step == FIND_PROGRAMS:
        # the machine was known, so there was nothing to wait for before the load
        assert story.started[-1] in (FIND_PROGRAMS, LOAD_MODEL)
    else:
        assert story.started[-1] == step
    assert story.ends == ["cancelled"]
    assert running == [0]


def test_cancel_ends_a_request_that_takes_long(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path, on_request="time.sleep(60)")
    story = Story(run)
    run.start(_plan(tmp_path, server))
    qtbot.waitUntil(lambda: "n_predict" in server.told, timeout=20_000)
    run.cancel()
    qtbot.waitUntil(lambda: not run.is_running, timeout=10_000)
    assert story.ends == ["cancelled"]


def test_prefers_the_first_folder_with_a_server() -> None:
    def runtime(title: str, *names: str) -> Runtime:
        programs = tuple(Program(name, f"/{title}/{name}") for name in names)
        return Runtime("llama.cpp", title, f"/{title}", None, None, programs, "test")

    only_bench = runtime("a", "llama-bench")
    only_server = runtime("b", "llama-server")
    both = runtime("c", "llama-server", "llama-bench")
    ollama = replace(both, id="ollama")
    assert diagnose_run.choose_runtime((ollama, only_bench, only_server, both)) is only_server
    assert diagnose_run.choose_runtime((only_bench,)) is only_bench
    assert diagnose_run.choose_runtime((ollama,)) is None


@pytest.mark.parametrize(
    ("story", "layers"),
    [
        (None, 9),
        (LoadStory(weights_on_device=None, offload_line=(19, 19)), 9),
        (LoadStory(weights_on_device=False, offload_line=(19, 19)), 0),
        (LoadStory(weights_on_device=True, offload_line=(12, 19)), 12),
        (LoadStory(weights_on_device=True), 9),
    ],
)
def test_believes_the_buffers_before_the_offload_line(story: LoadStory | None, layers: int) -> None:
    assert placed_layers(story, LoadRequest(ngl=9)) == layers


def test_writes_the_run_into_the_notebook_with_its_placement(
    run: DiagnoseRun, qtbot: QtBot, tmp_path: Path
) -> None:
    server, bench = stand_ins.server(tmp_path), stand_ins.bench(tmp_path)
    evidence = _run(run, _plan(tmp_path, server, bench), qtbot).result().evidence
    entry = record.entry_of_diagnosis(evidence)
    assert entry is not None
    assert entry.placement.offload_line == (9, 19)
    assert entry.placement.device_weights_bytes == pytest.approx(29.34 * 2**20, rel=1e-3)
    assert entry.placement.host_kv_bytes == pytest.approx(26.5 * 2**20, rel=1e-3)
    assert entry.runs == evidence.runs
    assert entry.run_id == evidence.runs[0].run_id
    assert entry.source == "diagnose"
    assert record.entry_of_diagnosis(Evidence(machine=Machine())) is None


def test_measures_the_experts_where_the_fit_left_them() -> None:
    seen = fitted_mixture()
    assert seen.model is not None and seen.machine is not None and seen.request is not None
    asked = bench_request(seen.model, seen.machine, seen.request, seen.log)
    assert (asked.ngl, asked.tool) == (5, Tool.BENCH)
    assert any("exps" in pattern and buffer == "CPU" for pattern, buffer in asked.overrides)
    by_hand = bench_request(seen.model, seen.machine, LoadRequest(ngl=5), seen.log)
    assert by_hand.overrides == ()


def test_a_rate_tells_a_device_for_prompts_from_no_device() -> None:
    run = BenchRun(Test.PROMPT, 64, (1.6, 1.7), "llama-server")
    without = LoadStory(weights_on_device=False, offload_line=(0, 19))
    scratch = LogBuffer("Vulkan0", BufferKind.DEVICE, Role.COMPUTE, 27 << 20, 9)
    for_prompts = replace(without, buffers=(scratch,))
    assert diagnose_run.labelled(run, without).setting("devices") == "none"
    assert diagnose_run.labelled(run, for_prompts).setting("devices") == "Vulkan0"


def test_names_an_rpc_server_where_the_program_lists_no_device_of_its_own() -> None:
    program = Program("llama-server", "/opt/llama/llama-server")
    found = Runtime("llama.cpp", "llama.cpp", "/opt/llama", "11434", 11434, (program,), "test")
    machine = Machine(runtimes=(found,))
    assert diagnose_run.found_text(machine, ()).endswith(": no device")
    told = diagnose_run.found_text(machine, ("127.0.0.1:50052",))
    assert told.endswith(": RPC server 127.0.0.1:50052")
