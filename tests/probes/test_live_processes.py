"""Processes of runtimes, live: found by name, without secrets, gone when they end."""

import os
import subprocess
import sys

import pytest

from app.core.host import ProcessInfo
from app.core.live import ProcessReading
from app.probes import live_processes
from app.probes.live_processes import ProcessMeter

CODE = "import sys\nprint('on', flush=True)\nsys.stdin.read()"


def _ours(process: ProcessInfo) -> str:
    return "Test" if process.pid == _ours.pid else ""  # type: ignore[attr-defined]  # set below


@pytest.mark.real
def test_reads_a_process_of_this_machine_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_processes, "_LOOK_EVERY_S", 0.0)
    argv = [sys.executable, "-c", CODE, "--api-key", "hidden-word"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline()
        _ours.pid = other.pid  # type: ignore[attr-defined]
        meter = ProcessMeter(_ours)
        (first,) = meter.read({})
        (second,) = meter.read({other.pid: 5})
        other.communicate()
    assert (first.title, first.cpu_cores, first.gpu_bytes) == ("Test", None, None)
    assert first.resident_bytes is not None and first.resident_bytes > 1 << 20
    assert "hidden-word" not in first.command and "--api-key" in first.command
    assert second.gpu_bytes == 5
    assert second.cpu_cores is not None and 0 <= second.cpu_cores < 1.5
    assert meter.read({}) == ()


@pytest.mark.real
def test_processes_of_a_run_are_shown_under_their_own_name() -> None:
    meter = ProcessMeter(lambda _process: "", frozenset({os.getpid()}))
    (found,) = meter.read({})
    assert isinstance(found, ProcessReading)
    assert found.title.startswith(("python", "pytest"))


@pytest.mark.real
def test_asks_each_process_for_its_name_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_processes, "_LOOK_EVERY_S", 0.0)
    asked: list[int] = []

    def name(process: ProcessInfo) -> str:
        asked.append(process.pid)
        return ""

    meter = ProcessMeter(name)
    for _ in range(4):
        meter.read({})
    assert asked.count(os.getpid()) == 2
