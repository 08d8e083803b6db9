"""r from two short runs: all layers on the host, all on the device."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.reading import Kind
from app.core.request import LoadRequest
from app.work.bench_runner import BenchPlan
from app.work.jobs import Jobs
from app.work.process import Processes
from app.work.ratio_run import RatioRun, ratio
from tests.work import stand_ins

PROMPT = BenchRun(Test.PROMPT, 512, (900.0, 910.0), "llama-bench")
HOST = BenchRun(Test.GENERATION, 128, (5.0, 5.1, 4.9), "llama-bench", (("n_gpu_layers", "0"),))
DEVICE = replace(
    HOST, samples_tps=(50.0, 50.2, 49.8), settings=(("n_gpu_layers", "999"), ("devices", "auto"))
)


@pytest.fixture
def run(qapp: QCoreApplication) -> Iterator[RatioRun]:
    made = RatioRun(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


def test_carries_both_intervals_into_r() -> None:
    r = ratio((PROMPT, HOST), (PROMPT, DEVICE))
    assert r.value == pytest.approx(10.0)
    assert r.kind is Kind.MEASURED
    assert HOST.low_tps and HOST.high_tps and DEVICE.low_tps and DEVICE.high_tps
    assert r.low == pytest.approx(DEVICE.low_tps / HOST.high_tps)
    assert r.high == pytest.approx(DEVICE.high_tps / HOST.low_tps)


def test_gives_no_r_when_there_is_no_device() -> None:
    alone = replace(DEVICE, settings=(("n_gpu_layers", "999"), ("devices", "none")))
    with pytest.raises(UserError) as caught:
        ratio((HOST,), (alone,))
    assert "both runs were on the processor" in caught.value.detail


@pytest.mark.parametrize("samples", [(5.0,), (0.1, 9.0)])
def test_gives_no_r_when_the_slow_end_is_not_known(samples: tuple[float, ...]) -> None:
    with pytest.raises(UserError):
        ratio((replace(HOST, samples_tps=samples),), (DEVICE,))


def test_gives_no_r_when_nothing_was_generated() -> None:
    with pytest.raises(UserError, match="r could not be measured"):
        ratio((PROMPT,), (PROMPT,))


def test_runs_the_host_end_first_and_without_other_moves(
    run: RatioRun, qtbot: QtBot, tmp_path: Path
) -> None:
    bench = stand_ins.bench(tmp_path)
    started: list[str] = []
    told: list[str] = []
    ends: list[object] = []
    run.step_started.connect(started.append)
    run.step_ended.connect(lambda *_: told.append(bench.told))
    run.failed.connect(ends.append)
    request = LoadRequest(ngl=9, n_cpu_moe=3, threads=1)
    run.start(BenchPlan(bench.program, "/models/gemma.gguf", request, repetitions=2))
    qtbot.waitUntil(lambda: not run.is_running, timeout=20_000)
    assert started == [
        "Measuring with all layers on the host",
        "Measuring with all layers on the device",
    ]
    assert [words.split()[words.split().index("-ngl") + 1] for words in told] == ["0", "999"]
    assert all("-ncmoe" not in words for words in told)
    # the captured rows are of a build without a GPU
    assert isinstance(ends[0], UserError)
