"""kill -9 in the middle of each step of each run: no program is left, the notebook is whole."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.core.bench import BenchRun, Test
from app.work.diagnose_run import LOAD_MODEL, MEASURE
from app.work.notebook import Entry, Notebook
from tests.work import stand_ins
from tests.work.killed_host import RATES

ROOT = Path(__file__).parents[2]
HOST = Path(__file__).with_name("killed_host.py")
GUARD = "guard.py"
SLEEP = "import time; time.sleep(60)"
HOST_END, DEVICE_END = "Measuring with all layers on the host", "Measuring with all layers on the d"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the guard is that of Linux")


@contextmanager
def _host(*words: object, until: str) -> Iterator[psutil.Popen]:
    """Start a run in a process of its own, and give it once it says a line."""
    process = psutil.Popen(
        [sys.executable, *map(str, words)],
        stdout=-1,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        if not any(line.decode().startswith(until) for line in process.stdout):
            pytest.fail(f"it never said {until}")
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


def _programs(process: psutil.Process) -> list[psutil.Process]:
    """Return what runs below a process, without the guards that wait before it."""
    try:
        below = process.children(recursive=True)
        return [child for child in below if child.cmdline() and GUARD not in child.cmdline()[2]]
    except (psutil.NoSuchProcess, IndexError):
        return []


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("kind", "until"),
    [
        ("prove", LOAD_MODEL),
        ("prove", MEASURE),
        ("practice", LOAD_MODEL),
        ("practice", MEASURE),
        ("ratio", HOST_END),
        ("ratio", DEVICE_END),
    ],
)
def test_leaves_no_program_and_a_whole_notebook(
    kind: str, until: str, tmp_path: Path, qtbot: QtBot
) -> None:
    stand_ins.server(tmp_path, end=SLEEP if until == LOAD_MODEL else "")
    stand_ins.bench(tmp_path, hangs=until in (MEASURE, HOST_END))
    if until == DEVICE_END:  # the second one hangs
        stand_ins.bench(tmp_path, hangs_when="999")
    model = stand_ins.model(tmp_path)
    with _host(HOST, kind, model, tmp_path, until=until) as process:
        qtbot.waitUntil(lambda: bool(_programs(process)), timeout=20_000)
        programs = process.children(recursive=True)
        process.kill()
        process.wait()
        qtbot.waitUntil(lambda: not any(map(_is_alive, programs)), timeout=10_000)
    pages = Notebook().read()
    assert [entry.run_id for entry in pages.entries] == ["first"]
    assert pages.n_broken == 0 and pages.entries[0].runs == RATES


APPENDS = """
import sys
sys.path.insert(0, sys.argv[1])
from app.core.bench import BenchRun, Test
from app.work.notebook import Entry, Notebook
notebook = Notebook()
for number in range(100_000):
    run = BenchRun(Test.GENERATION, 16, (10.0, 10.1), "llama-bench", run_id=str(number))
    notebook.append(Entry(str(number), "2026-12-01T00:00:00Z", "m" * 2000, (run,)))
    print("line", number, flush=True)
"""


def test_the_notebook_outlives_two_writers_of_which_one_is_killed() -> None:
    notebook = Notebook()
    with _host("-c", APPENDS, ROOT, until="line 5") as process:
        for number in range(5):
            run = BenchRun(Test.PROMPT, 16, (1.0, 1.1), "llama-bench", run_id=f"own {number}")
            notebook.append(Entry(f"own {number}", "2026-12-01T00:00:00Z", "own", (run,)))
        process.kill()
        process.wait()
    pages = notebook.read()
    assert pages.n_broken <= 1  # the line that the kill cut, if it cut one
    own = [entry.run_id for entry in pages.entries if entry.model == "own"]
    assert own == [f"own {number}" for number in range(5)]
    others = [entry.run_id for entry in pages.entries if entry.model != "own"]
    assert others[:6] == [str(number) for number in range(6)]
