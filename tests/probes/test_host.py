"""The real Host: what it answers for programs that end, hang, flood or are not there."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from app.core.reading import State
from app.probes import host as host_module
from app.probes.host import RealHost, child_environment

PYTHON = sys.executable


def test_run_returns_both_outputs_and_the_code_when_a_program_ends() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    answer = RealHost().run((PYTHON, "-c", code), timeout_s=20)
    assert (answer.state, answer.code) == (State.KNOWN, 3)
    assert (answer.stdout, answer.stderr) == ("out\n", "err\n")


def test_run_says_missing_when_there_is_no_such_program(tmp_path: Path) -> None:
    answer = RealHost().run((str(tmp_path / "no-such-program"),))
    assert answer.state is State.MISSING
    assert answer.code is None


def test_run_says_denied_when_the_file_is_not_executable(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("x")
    answer = RealHost().run((str(path),))
    assert answer.state is State.DENIED


def test_run_says_error_when_the_file_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"\x7fELF but not really")
    path.chmod(0o755)
    answer = RealHost().run((str(path),))
    assert answer.state is State.ERROR
    assert "did not start" in answer.reason


def test_run_kills_the_grandchild_too_when_the_time_is_over(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        "print('started', flush=True)\n"
        "child.wait()\n"
    )
    answer = RealHost().run((PYTHON, "-c", code), timeout_s=2)
    assert answer.state is State.TIMEOUT
    assert answer.reason == "no answer within 2 s"
    assert answer.stdout == "started\n"  # what it said before is kept
    grandchild = int(note.read_text())
    _, alive = psutil.wait_procs(_processes(grandchild), timeout=10)
    assert not alive


def test_run_stops_a_program_that_prints_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "OUTPUT_LIMIT", 1 << 16)
    answer = RealHost().run((PYTHON, "-c", "while True: print('x' * 1000)"), timeout_s=60)
    assert answer.state is State.ERROR
    assert "printed more" in answer.reason
    assert len(answer.stdout) == 1 << 16


def test_run_gives_no_input_and_plain_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    code = "import os, sys; print(repr(sys.stdin.read()), os.environ['LC_ALL'], os.environ['LANG'])"
    answer = RealHost().run((PYTHON, "-c", code), timeout_s=20)
    assert answer.stdout == "'' C C\n"


def test_child_environment_restores_the_library_path_when_packaged() -> None:
    environ = {
        "LD_LIBRARY_PATH": "/bundle",
        "LD_LIBRARY_PATH_ORIG": "/own",
        "DYLD_LIBRARY_PATH": "/bundle",
        "PATH": "/bin",
    }
    child = child_environment(environ, is_frozen=True)
    assert child == {"LD_LIBRARY_PATH": "/own", "PATH": "/bin", "LC_ALL": "C", "LANG": "C"}
    assert child_environment(environ, is_frozen=False)["LD_LIBRARY_PATH"] == "/bundle"


def test_reads_nothing_without_an_exception_when_files_are_missing(tmp_path: Path) -> None:
    host = RealHost()
    gone = str(tmp_path / "gone")
    for path in (gone, f"{gone}\0x", str(tmp_path)):
        assert host.read_text(path) is None
        assert host.read_start(path, 4) == b""
        assert not host.is_file(path)
    assert host.list_dir(gone) == ()
    assert host.file_bytes(gone) is None
    assert host.real_path(gone) == gone


def test_read_text_stops_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"\xffabcdef")
    assert RealHost().read_text(str(path), limit=4) == "\ufffdabc"


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes in folders are POSIX")
def test_read_start_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "model.gguf"
    os.mkfifo(pipe)
    assert RealHost().read_start(str(pipe), 4) == b""


@pytest.mark.real
def test_names_this_process_and_no_card_without_a_driver() -> None:
    host = RealHost()
    own = next(process for process in host.processes() if process.pid == os.getpid())
    assert own.argv
    assert all(0 <= entry.port < 1 << 16 for entry in host.listeners())
    basics = host.basics()
    assert basics.memory_total_bytes and basics.memory_available_bytes
    assert basics.memory_available_bytes < basics.memory_total_bytes
    if not Path("/dev/nvidiactl").exists():
        assert host.nvml().state in (State.ABSENT, State.ERROR)
        assert host.nvml().reason


def _processes(pid: int) -> list[psutil.Process]:
    try:
        return [psutil.Process(pid)]
    except psutil.NoSuchProcess:
        return []
