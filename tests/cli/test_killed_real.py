"""kill -9 of the commands that run the real programs: none is left, the notebook is whole."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.work.load_probe import free_port
from app.work.notebook import Notebook
from app.work.settings import N_GEN, N_PROMPT, Settings
from tests.cli.programs import is_alive, programs_of
from tests.house.tree import ROOT
from tests.work.rpc_device import rpc_device
from tests.work.test_observe_real import until_ready

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(sys.platform != "linux", reason="the guard is that of Linux"),
]
LOADS, MEASURES = "Loading the model with", "Measuring prompt and"
# more than there are, so that the program's own number is a change that applies
THREADS = str((os.cpu_count() or 1) + 1)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, user_folders: Path) -> None:
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")
    settings = Settings()
    settings.set(N_PROMPT, 32)
    settings.set(N_GEN, 64)


@contextmanager
def _command(*words: object, after: tuple[str, ...]) -> Iterator[psutil.Popen]:
    """Run a command, and give it once it has said these lines, one after the other."""
    argv = [sys.executable, "-m", "app", *map(str, words)]
    command = psutil.Popen(argv, cwd=ROOT, env=dict(os.environ), stdout=-3, stderr=-1)
    try:
        for start in after:
            said = any(line.decode().startswith(start) for line in command.stderr)
            assert said, f"it never said {start}"
        yield command
    finally:
        if command.is_running():
            command.kill()
        command.wait()
        command.stderr.close()


def _kill(command: psutil.Popen, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(programs_of(command)), timeout=30_000)
    everything = command.children(recursive=True)
    command.kill()
    command.wait()
    qtbot.waitUntil(lambda: not any(map(is_alive, everything)), timeout=10_000)


@pytest.mark.parametrize("step", [LOADS, MEASURES])
def test_the_second_run_of_a_proof(step: str, llama_bin: Path, gemma: Path, qtbot: QtBot) -> None:
    words = ("diagnose", gemma, "--llama-bin", llama_bin, "--threads", THREADS)
    after = ("Again, with one change", step)
    with _command(*words, "--prove", "--change", "fewer-threads", after=after) as command:
        _kill(command, qtbot)
    pages = Notebook().read()
    assert pages.n_broken == 0 and len(pages.entries) == 1  # the first run is kept


@pytest.mark.parametrize("step", [LOADS, MEASURES])
def test_practice(step: str, llama_bin: Path, gemma: Path, qtbot: QtBot) -> None:
    words = ("practice", gemma, "--llama-bin", llama_bin, "--threads", "1", "--fault", "all")
    # without a device nothing would be loaded
    with (
        rpc_device(llama_bin) as address,
        _command(*words, "--rpc", address, after=(step,)) as command,
    ):
        _kill(command, qtbot)
    pages = Notebook().read()
    assert pages.n_broken == 0 and pages.entries == ()


def test_watching_leaves_the_program_of_the_user_alone(
    llama_bin: Path, gemma: Path, qtbot: QtBot
) -> None:
    port, silent = free_port(), subprocess.DEVNULL
    argv = (str(llama_bin / "llama-server"), "-m", str(gemma), "-c", "512", "-t", "1",
            "--port", str(port))  # fmt: skip
    with subprocess.Popen(argv, stdin=silent, stdout=silent, stderr=silent) as server:
        try:
            until_ready(server, port)
            after = ("Watching memory and processor",)
            words = ("diagnose", "--watch", "60", "--llama-bin", llama_bin)
            with _command(*words, after=after) as command:
                everything = command.children(recursive=True)
                command.kill()
                command.wait()
                qtbot.waitUntil(lambda: not any(map(is_alive, everything)), timeout=10_000)
            assert server.poll() is None
        finally:
            server.kill()
    assert Notebook().read().n_broken == 0
