"""One look at a machine: all facts, devices and runtimes, whatever breaks on the way."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Barrier
from types import ModuleType

import pytest

from app.core import plugins
from app.core.host import CommandResult
from app.core.machine import DeviceKind, MachineFact, Runtime
from app.core.probe import LoadWish, Probe, RuntimeProbe
from app.core.reading import State
from app.probes.host import RealHost
from app.work.machine_reader import read_machine
from tests.hosts import FakeHost, fake_host

CACHE = "/home/user/.cache/slowscope"
FOLDERS = (f"{CACHE}/vulkan-10434", f"{CACHE}/build-11434/bin")


class Stopped(Exception):
    """Raised by the cancelled work."""


class CancelAfter:
    """Stops at the n-th look."""

    def __init__(self, looks: int) -> None:
        self._left = looks

    def check(self) -> None:
        """Count down."""
        self._left -= 1
        if self._left < 0:
            raise Stopped


def test_reads_a_recorded_machine_whole() -> None:
    machine = read_machine(fake_host("vm-llvmpipe"), FOLDERS)
    assert machine.number("memory.total") == 25_276_502_016
    assert machine.text("cpu.model") == "AMD EPYC"
    assert [device.kind for device in machine.devices] == [DeviceKind.VULKAN]
    assert machine.devices_source.endswith("llama-server --list-devices")
    assert [runtime.id for runtime in machine.runtimes] == ["llama.cpp", "llama.cpp"]
    assert machine.skipped == ()
    # llvmpipe is a device for placement, and no GPU
    count = machine.fact("gpu.count")
    assert count and count.reading.state is State.ABSENT


def test_no_gpu_and_no_program_is_a_normal_result() -> None:
    for platform in ("linux", "win32", "darwin"):
        machine = read_machine(FakeHost(platform=platform))
        assert machine.devices == ()
        assert machine.devices_source == ""
        assert machine.skipped == ()
        devices = machine.fact("llama.devices")
        assert devices and devices.reading.state is State.MISSING and devices.reading.reason
        count = machine.fact("gpu.count")
        assert count and count.reading.value is None and count.reading.reason


def _collect(*broken: object) -> Callable[..., tuple[object, ...]]:
    real = plugins.collect

    def collect(package: ModuleType, name: str, kind: type[object]) -> tuple[object, ...]:
        own = tuple(item for item in broken if isinstance(item, kind))
        return (*own, *real(package, name, kind))

    return collect


def test_a_probe_that_breaks_is_shown_and_spoils_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_host: object) -> tuple[MachineFact, ...]:
        raise ZeroDivisionError("by zero")

    def find(_host: object, _folders: tuple[str, ...]) -> tuple[Runtime, ...]:
        raise KeyError("gone")

    def setting(_wish: LoadWish) -> str:
        return ""

    broken = Probe("Broken one", read), RuntimeProbe("broken", "Broken runtime", find, setting)
    monkeypatch.setattr(plugins, "collect", _collect(*broken))
    machine = read_machine(fake_host("vm-llvmpipe"), FOLDERS)
    assert machine.skipped == (
        "Broken one could not be read: ZeroDivisionError: by zero",
        "Broken runtime could not be read: KeyError: 'gone'",
    )
    fact = machine.fact("broken_one.search")
    assert fact and fact.reading.state is State.ERROR
    assert machine.number("memory.total") is not None
    assert len(machine.runtimes) == 2


@pytest.mark.parametrize("looks", [0, 3, 9, 12])
def test_stops_between_two_questions(looks: int) -> None:
    with pytest.raises(Stopped):
        read_machine(fake_host("vm-llvmpipe"), FOLDERS, CancelAfter(looks))


def test_asks_for_processes_once() -> None:
    class Counting(FakeHost):
        """Counts what is costly."""

        n_processes = 0

        def processes(self) -> tuple[()]:
            """Count."""
            self.n_processes += 1
            return ()

    host = Counting()
    read_machine(host)
    assert host.n_processes == 1


def test_reads_a_machine_without_qt() -> None:
    code = (
        "import sys\n"
        "from app.work.machine_reader import read_machine\n"
        "from app.probes.recorded import load\n"
        "assert not [name for name in sys.modules if 'PySide6' in name or 'numpy' in name]\n"
    )
    root = Path(__file__).parent.parent.parent
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr


@pytest.mark.real
def test_reads_this_machine_in_two_seconds(llama_bin: Path, vulkan_server: Path) -> None:
    folders = (str(vulkan_server.parent), str(llama_bin))
    started = time.process_time(), time.monotonic()
    machine = read_machine(RealHost(), folders)
    wall_s = time.monotonic() - started[1]
    assert machine.skipped == ()
    assert machine.number("memory.total")
    assert machine.number("cpu.physical")
    assert {r.folder for r in machine.runtimes} >= set(folders)
    # the rule is 2 s on a quiet machine; our own CPU time is what a busy one cannot change
    assert time.process_time() - started[0] < 1.0
    assert wall_s < 8.0


@pytest.mark.real
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_a_tool_that_hangs_costs_its_limit_and_no_more(tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    tool.chmod(0o755)
    env = dict(os.environ, PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    argv = [sys.executable, "-m", "app", "hardware", "--json"]
    started = time.monotonic()
    answer = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=20, check=False)
    wall_s = time.monotonic() - started
    assert answer.returncode == 0, answer.stderr
    count = next(f for f in json.loads(answer.stdout)["facts"] if f["path"] == "nvidia.search")
    assert count["value"] is None
    assert 2.0 <= wall_s < 3.0 + _busy_s()


def _busy_s() -> float:
    """Return what a busy computer may add: nothing when it is quiet."""
    load = os.getloadavg()[0] - (os.cpu_count() or 1)
    return max(0.0, load)


def test_waits_for_slow_answers_side_by_side() -> None:
    class Slow(FakeHost):
        """Lets each program wait until all that are asked have begun."""

        def __init__(self) -> None:
            super().__init__(platform="darwin")
            self.together = Barrier(2)

        def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
            """Wait for the other probe that runs a program."""
            if argv[:3] == ("sysctl", "-n", "vm.swapusage") or "hw" in argv:  # swap, Apple
                self.together.wait(10)
            return super().run(argv, timeout_s)

    host = Slow()
    read_machine(host)
    assert not host.together.broken
