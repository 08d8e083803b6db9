"""Without a window: the same run, ended by Ctrl+C, by a polite kill, or by kill -9."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.errors import UserError
from app.core.machine import Program
from app.work import headless
from app.work.bench_runner import BenchPlan
from app.work.diagnose_run import LOAD_MODEL, MEASURE, DiagnosePlan
from tests.work import stand_ins

ROOT = Path(__file__).parents[2]
HOST = Path(__file__).with_name("headless_host.py")
linux = pytest.mark.skipif(sys.platform != "linux", reason="signals and guard are those of Linux")


def test_diagnoses_to_the_end_and_says_each_step(qapp: QCoreApplication, tmp_path: Path) -> None:
    server, bench = stand_ins.server(tmp_path), stand_ins.bench(tmp_path)
    said: list[str] = []
    plan = DiagnosePlan(
        str(stand_ins.model(tmp_path)), base=stand_ins.evidence(server, bench), repetitions=2
    )
    result = headless.run_diagnose(plan, said.append)
    assert len(result.evidence.runs) == 2
    assert said[0] == "Reading the model's header ..."
    assert any(line.startswith(f"{MEASURE}: prompt ") for line in said)


def test_brings_the_rates_of_a_benchmark(qapp: QCoreApplication, tmp_path: Path) -> None:
    plan = BenchPlan(stand_ins.bench(tmp_path).program, "/models/gemma.gguf", repetitions=2)
    assert len(headless.run_bench(plan).runs) == 2


def test_raises_what_the_user_can_act_on(qapp: QCoreApplication) -> None:
    with pytest.raises(UserError, match="could not measure"):
        headless.run_bench(BenchPlan(Program("llama-bench", "/no/llama-bench"), "/m.gguf"))


@contextmanager
def _host(model: Path, folder: Path, *, until: str) -> Iterator[tuple[psutil.Popen, list[int]]]:
    """Diagnose in a process of its own; give it and all its programs once it says a line."""
    parent = psutil.Popen(
        [sys.executable, str(HOST), str(model), str(folder)],
        stdout=-1,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        for line in parent.stdout:
            if line.decode().startswith(until):
                break
        else:
            raise AssertionError(f"it never said {until}")
        yield parent, _programs(parent)
    finally:
        if parent.poll() is None:
            parent.kill()
            parent.wait()
        parent.stdout.close()


def _programs(parent: psutil.Process) -> list[int]:
    """Return the processes below, once the program itself runs and not only its guard."""
    for _ in range(1_000_000):
        below = parent.children(recursive=True)
        # the guard, and below it the program: it no longer has the guard's own command line
        if any("guard.py" not in " ".join(_words(child)) for child in below):
            return [child.pid for child in below]
        if not parent.is_running():
            break
    raise AssertionError("no program was started")


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline() or ["guard.py"]
    except psutil.NoSuchProcess:
        return ["guard.py"]


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_cancels_when_it_is_interrupted(number: signal.Signals, tmp_path: Path) -> None:
    stand_ins.server(tmp_path, end="import time; time.sleep(60)")
    with _host(stand_ins.model(tmp_path), tmp_path, until=LOAD_MODEL) as (parent, pids):
        parent.send_signal(number)
        assert parent.stdout.read().decode().strip().endswith("cancelled")
        assert parent.wait() == 3
        assert not any(map(_is_alive, pids))


@linux
@pytest.mark.parametrize("until", [LOAD_MODEL, MEASURE])
def test_leaves_no_program_when_it_is_killed(until: str, tmp_path: Path, qtbot: QtBot) -> None:
    loads = "import time; time.sleep(60)" if until == LOAD_MODEL else ""
    stand_ins.server(tmp_path, end=loads)
    stand_ins.bench(tmp_path, hangs=True)
    with _host(stand_ins.model(tmp_path), tmp_path, until=until) as (parent, pids):
        parent.kill()
        parent.wait()
        qtbot.waitUntil(lambda: not any(map(_is_alive, pids)), timeout=10_000)


@linux
@pytest.mark.real
@pytest.mark.parametrize("until", [LOAD_MODEL, MEASURE])
def test_leaves_no_llama_cpp_when_it_is_killed(
    until: str, llama_bin: Path, gemma: Path, qtbot: QtBot
) -> None:
    with _host(gemma, llama_bin, until=until) as (parent, pids):
        parent.kill()
        parent.wait()
        qtbot.waitUntil(lambda: not any(map(_is_alive, pids)), timeout=10_000)
