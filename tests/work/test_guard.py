"""The guard by itself; what it does for programs is in test_process and test_headless."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.work import guard

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="the guard is tested on Linux")


def _run(*arguments: str, parent: int | None = None) -> "subprocess.CompletedProcess[str]":
    prefix = guard.prefix(os.getpid() if parent is None else parent)
    return subprocess.run(
        [*prefix, *arguments], capture_output=True, text=True, timeout=30, check=False
    )


def test_is_small_enough_to_stand_before_every_program() -> None:
    code = (
        "import sys, app.work.guard\n"
        "print([n for n in ('PySide6', 'psutil', 'numpy', 'pathlib') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.stdout.strip() == "[]", done.stderr


@linux
def test_passes_on_output_and_exit_code() -> None:
    done = _run("/bin/sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 7)


@linux
@pytest.mark.parametrize("number", [4, 6, 9, 11, 15])
def test_ends_by_the_signal_that_ended_the_program(number: int) -> None:
    assert _run("/bin/sh", "-c", f"kill -{number} $$").returncode == -number


@linux
def test_starts_nothing_when_its_parent_is_gone_already() -> None:
    done = _run("/bin/echo", "started", parent=1)
    assert done.stdout == ""
    assert done.returncode == guard.NOT_STARTED


@linux
def test_says_why_the_program_cannot_start() -> None:
    done = _run("/etc/passwd")
    assert done.stderr.strip() == f"{guard.MARK}Permission denied"
    assert done.returncode == guard.NOT_STARTED


@linux
def test_gives_the_program_the_signals_as_they_are_by_default() -> None:
    # Python ignores SIGPIPE; `yes` would then never end
    done = _run("/bin/sh", "-c", "yes | head -n 1")
    assert done.stdout == "y\n"
    assert "roken pipe" not in done.stderr
    blocked = _run("/bin/sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status").stdout.split()
    assert int(blocked[1], 16) == 0
    assert int(blocked[3], 16) & ~(1 << 31) == 0


def test_is_the_packaged_program_itself_when_packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert guard.prefix(77) == (sys.executable, "--guard", "77")


def test_gives_the_program_its_own_libraries_when_packaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/app/_internal")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/opt/cuda/lib64")
    environment = guard._environment()
    assert environment["LD_LIBRARY_PATH"] == "/opt/cuda/lib64"
    assert "LD_LIBRARY_PATH_ORIG" not in environment
    monkeypatch.delenv("LD_LIBRARY_PATH_ORIG")
    assert "LD_LIBRARY_PATH" not in guard._environment()
