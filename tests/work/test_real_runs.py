"""The guided run and the benchmark with the real programs and a real model."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.bench import Test
from app.core.errors import UserError
from app.core.log import BufferKind, Role
from app.core.machine import DeviceKind, Program
from app.core.request import LoadRequest
from app.core.units import MIB
from app.probes.host import RealHost
from app.rules import judge
from app.runtimes import llama_cpp
from app.work import headless
from app.work.bench_runner import BenchPlan
from app.work.diagnose_run import LOAD_MODEL, MEASURE, DiagnosePlan, DiagnoseResult, DiagnoseRun
from app.work.jobs import Jobs
from app.work.process import Processes

pytestmark = pytest.mark.real

GEMMA_BLOCKS = 18


@pytest.fixture(autouse=True)
def _vulkan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")


@pytest.fixture
def run(qapp: QCoreApplication) -> Iterator[DiagnoseRun]:
    made = DiagnoseRun(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


def _plan(model: Path, folder: Path, request: LoadRequest) -> DiagnosePlan:
    return DiagnosePlan(
        str(model), replace(request, threads=1), (str(folder),), n_prompt=64, n_gen=8, repetitions=2
    )


def _all_placement_is_known(result: DiagnoseResult) -> None:
    """Hold each line of the real log that names a buffer or an offload to a fact."""
    log = result.evidence.log
    assert log is not None
    known = {event.line for event in log.events}
    text = Path(result.log_path).read_text("utf-8", "replace")
    said = [
        (number, line)
        for number, line in enumerate(text.split("\n"), 1)
        if "buffer size =" in line or "offloaded " in line or "using device " in line
    ]
    assert said
    assert not [line for number, line in said if number not in known]
    for load in log.loads:
        assert all(buffer.kind is not BufferKind.UNKNOWN for buffer in load.buffers)


def test_diagnoses_a_build_without_gpu(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path
) -> None:
    # -ngl 99 on such a build prints "offloaded 19/19" (logs.md section 0)
    plan = _plan(gemma, llama_bin, LoadRequest(ctx=1024, ngl=99))
    result = headless.run_diagnose(plan)
    _all_placement_is_known(result)
    evidence = result.evidence
    assert evidence.outcome is not None and evidence.outcome.is_ready
    story = evidence.log.load if evidence.log else None
    assert story is not None
    assert story.offload_line == (GEMMA_BLOCKS + 1, GEMMA_BLOCKS + 1)
    assert story.weights_on_device is False
    assert story.n_ctx == 1024
    # tied embeddings are loaded for the input and for the output layer (placement.md)
    assert story.bytes_of(BufferKind.HOST, Role.WEIGHTS) > 235 * MIB
    assert [rate.test for rate in evidence.runs] == [Test.PROMPT, Test.GENERATION]
    for rate in evidence.runs:
        assert rate.instrument == "llama-bench"
        assert rate.setting("n_gpu_layers") == "0"
        assert rate.setting("n_threads") == "1"
        assert rate.build == "11434"
        assert rate.mean_tps > 0 and rate.n == 2
    assert evidence.watch is not None
    assert evidence.notes == ()


def test_diagnoses_device_none_on_a_gpu_build(
    qapp: QCoreApplication, vulkan_server: Path, gemma: Path
) -> None:
    request = LoadRequest(ctx=1024, ngl=99, use_devices=False)
    result = headless.run_diagnose(_plan(gemma, vulkan_server.parent, request))
    _all_placement_is_known(result)
    evidence = result.evidence
    assert evidence.machine is not None
    assert [device.kind for device in evidence.machine.devices] == [DeviceKind.VULKAN]
    story = evidence.log.load if evidence.log else None
    assert story is not None
    assert story.offload_line == (GEMMA_BLOCKS + 1, GEMMA_BLOCKS + 1)
    assert story.weights_on_device is False
    diagnosis = judge.diagnose(evidence)
    found = {finding.rule_id for finding in (diagnosis.verdict, *diagnosis.also) if finding}
    assert "device-present-but-unused" in found
    # there is no llama-bench in this package
    assert {rate.instrument for rate in evidence.runs} == {"llama-server"}
    assert {rate.setting("n_gpu_layers") for rate in evidence.runs} == {"0"}


def test_loads_layers_onto_a_vulkan_device(
    run: DiagnoseRun, qtbot: QtBot, vulkan_server: Path, gemma: Path
) -> None:
    # llvmpipe computes 6 tokens per second, so the run is cancelled once it measures
    started: list[str] = []
    texts: dict[str, str] = {}
    ends: list[str] = []
    run.step_started.connect(started.append)
    run.step_ended.connect(lambda name, _seconds, text: texts.update({name: text}))
    run.cancelled.connect(lambda: ends.append("cancelled"))
    run.start(_plan(gemma, vulkan_server.parent, LoadRequest(ctx=512, ngl=9)))
    qtbot.waitUntil(lambda: MEASURE in started or not run.is_running, timeout=300_000)
    assert texts[LOAD_MODEL].startswith("ready after")
    family = psutil.Process().children(recursive=True)
    run.cancel()
    qtbot.waitUntil(lambda: not run.is_running, timeout=60_000)
    assert ends == ["cancelled"]
    assert not psutil.wait_procs(family, timeout=0)[1]


def test_keeps_the_reason_when_the_context_does_not_fit(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path
) -> None:
    # 30 million cells take 85 GiB; --swa-full makes every layer keep all of them
    request = LoadRequest(ctx=30_000_000, swa_full=True)
    evidence = headless.run_diagnose(_plan(gemma, llama_bin, request)).evidence
    assert evidence.outcome is not None and not evidence.outcome.is_ready
    assert evidence.outcome.exit_text
    story = evidence.log.load if evidence.log else None
    assert story is not None and story.errors
    assert evidence.runs == ()
    diagnosis = judge.diagnose(evidence)
    assert diagnosis.verdict is not None
    assert diagnosis.verdict.rule_id == "load-failed"


def test_keeps_the_reason_when_the_file_is_cut(
    qapp: QCoreApplication, llama_bin: Path, deepseek_header: Path
) -> None:
    evidence = headless.run_diagnose(_plan(deepseek_header, llama_bin, LoadRequest())).evidence
    assert evidence.model is not None and evidence.model.problems
    assert evidence.outcome is not None and not evidence.outcome.is_ready
    story = evidence.log.load if evidence.log else None
    assert story is not None and story.errors


def test_benchmarks_and_says_what_went_wrong(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path
) -> None:
    path = str(llama_bin / "llama-bench")
    program = Program("llama-bench", path, llama_cpp.read_flags(RealHost(), path))
    request = LoadRequest(threads=1, cache_type_k="q8_0", cache_type_v="q8_0")
    plan = BenchPlan(program, str(gemma), request, n_prompt=32, n_gen=8, repetitions=3)
    progress: list[str] = []
    result = headless.run_bench(plan, progress.append)
    assert [run.n for run in result.runs] == [3, 3]
    assert all(run.setting("type_k") == "q8_0" for run in result.runs)
    assert all(run.low_tps is not None for run in result.runs)
    with pytest.raises(UserError) as caught:
        headless.run_bench(replace(plan, model_path="/models/gone.gguf"))
    assert "failed to load model" in caught.value.detail
