"""Programs: real small ones, written in Python, that print, fail, crash, hang and have children."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.work.outcome import End, Outcome
from app.work.process import LINE_LIMIT, Process, Processes

linux = pytest.mark.skipif(sys.platform != "linux", reason="the guard is tested on Linux")


@pytest.fixture
def processes(qapp: QCoreApplication) -> Iterator[Processes]:
    made = Processes()
    yield made
    assert made.stop_all_and_wait()


class Watcher:
    """Collects what a process says."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self.error_lines: list[str] = []
        self.outcomes: list[Outcome] = []
        process.line_read.connect(self.lines.append)
        process.error_line_read.connect(self.error_lines.append)
        process.ended.connect(self.outcomes.append)

    def wait(self, qtbot: QtBot) -> Outcome:
        qtbot.waitUntil(lambda: bool(self.outcomes), timeout=20_000)
        assert len(self.outcomes) == 1
        return self.outcomes[0]


def _python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-u", "-c", code, *arguments]


def _run(processes: Processes, code: str, *arguments: str, merge: bool = False) -> Watcher:
    return Watcher(processes.start(_python(code, *arguments), merge=merge))


def test_gives_the_lines_of_both_outputs_then_one_end(processes: Processes, qtbot: QtBot) -> None:
    watcher = _run(
        processes,
        "import sys; print('one'); print('two\\r\\nthree', end=''); sys.stderr.write('e')",
    )
    outcome = watcher.wait(qtbot)
    assert watcher.lines == ["one", "two", "three"]
    assert watcher.error_lines == ["e"]
    assert outcome.is_success
    assert outcome.end is End.EXITED
    assert outcome.seconds > 0
    assert outcome.sentence().endswith("ended normally.")


def test_keeps_the_order_of_both_outputs_when_merged(processes: Processes, qtbot: QtBot) -> None:
    code = "import sys\nfor i in range(50): print(i); print('e', i, file=sys.stderr)"
    watcher = _run(processes, code, merge=True)
    watcher.wait(qtbot)
    assert watcher.lines == [line for i in range(50) for line in (str(i), f"e {i}")]
    assert watcher.error_lines == []


def test_decodes_a_character_that_arrives_in_two_halves(
    processes: Processes, qtbot: QtBot, tmp_path: Path
) -> None:
    # the second half comes only after the first was seen, so they arrive apart
    gate = tmp_path / "gate"
    code = (
        "import os,sys,time\nos.write(1, b'go\\n\\xc3')\n"
        "while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
        "os.write(1, b'\\xa9t\\xff\\n')"
    )
    watcher = _run(processes, code, str(gate))
    qtbot.waitUntil(lambda: watcher.lines == ["go"], timeout=10_000)
    gate.touch()
    watcher.wait(qtbot)
    assert watcher.lines == ["go", "ét\N{REPLACEMENT CHARACTER}"]


def test_cuts_a_line_without_end(processes: Processes, qtbot: QtBot) -> None:
    watcher = _run(processes, f"import sys; sys.stdout.write('x' * {2 * LINE_LIMIT + 5})")
    watcher.wait(qtbot)
    assert [len(line) for line in watcher.lines] == [LINE_LIMIT, LINE_LIMIT, 5]


def test_writes_the_log_as_it_came(processes: Processes, qtbot: QtBot, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "load.log"
    code = "import os; os.write(1, b'a\\xff\\n'); os.write(2, b'b')"
    watcher = Watcher(processes.start(_python(code), merge=True, log_file=log))
    watcher.wait(qtbot)
    assert log.read_bytes() == b"a\xff\nb"


def test_passes_arguments_as_they_are(processes: Processes, qtbot: QtBot) -> None:
    arguments = ["a b", "", "ü 漢", "$HOME", "'\"", "--", "-ngl"]
    watcher = _run(processes, "import sys; print(ascii(sys.argv[1:]))", *arguments)
    watcher.wait(qtbot)
    assert watcher.lines == [ascii(arguments)]


def test_gives_the_program_plain_language_and_what_was_asked(
    processes: Processes, qtbot: QtBot
) -> None:
    code = "import os; print(os.environ['LC_ALL'], os.environ['OURS'], 'PATH' in os.environ)"
    watcher = Watcher(processes.start(_python(code), env={"OURS": "1"}))
    watcher.wait(qtbot)
    assert watcher.lines == ["C 1 True"]


def test_gives_the_program_no_input(processes: Processes, qtbot: QtBot) -> None:
    watcher = _run(processes, "import sys; print(repr(sys.stdin.read()))")
    watcher.wait(qtbot)
    assert watcher.lines == ["''"]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("/no/such/llama-server", "there is no such file"),
        ("no-such-program-anywhere", "on PATH"),
        ("/", "a folder"),
    ],
)
def test_says_why_when_the_program_cannot_start(
    program: str, words: str, processes: Processes, qtbot: QtBot
) -> None:
    watcher = Watcher(processes.start([program]))
    assert watcher.outcomes == []  # not before start() has returned
    outcome = watcher.wait(qtbot)
    assert outcome.end is End.NOT_STARTED
    assert words in outcome.sentence()
    assert not outcome.is_success


@linux
def test_says_why_when_the_system_refuses_the_file(
    processes: Processes, qtbot: QtBot, tmp_path: Path
) -> None:
    program = tmp_path / "llama-server"
    program.write_bytes(b"no program at all")
    program.chmod(0o755)
    outcome = Watcher(processes.start([str(program)])).wait(qtbot)
    assert outcome.end is End.NOT_STARTED
    assert "Exec format error" in outcome.sentence()


def test_says_why_when_the_log_cannot_be_written(
    processes: Processes, qtbot: QtBot, tmp_path: Path
) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    process = processes.start(_python("print(1)"), log_file=blocker / "load.log")
    outcome = Watcher(process).wait(qtbot)
    assert outcome.end is End.NOT_STARTED
    assert "load.log" in outcome.reason


def test_gives_the_exit_code_and_the_last_lines_when_it_fails(
    processes: Processes, qtbot: QtBot
) -> None:
    outcome = _run(processes, "import sys; print('why'); sys.exit(3)").wait(qtbot)
    assert (outcome.end, outcome.code) == (End.EXITED, 3)
    assert outcome.last_lines == ("why",)
    assert "exit code 3" in outcome.sentence()


@linux
@pytest.mark.parametrize(
    ("number", "words"),
    [(11, "invalid memory access"), (9, "memory ran out"), (6, "abort"), (4, "processor lacks")],
)
def test_names_the_signal_that_ended_it(
    number: int, words: str, processes: Processes, qtbot: QtBot
) -> None:
    outcome = _run(processes, f"import os; os.kill(os.getpid(), {number})").wait(qtbot)
    assert (outcome.end, outcome.signal_number) == (End.CRASHED, number)
    assert words in outcome.sentence()


def test_stop_lets_the_program_end_by_itself(processes: Processes, qtbot: QtBot) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('bye'), sys.exit(0)))\n"
        "print('up')\ntime.sleep(60)"
    )
    watcher = _run(processes, code)
    qtbot.waitUntil(lambda: watcher.lines == ["up"], timeout=10_000)
    watcher.process.stop()
    outcome = watcher.wait(qtbot)
    assert watcher.lines == ["up", "bye"]
    assert outcome.end is End.STOPPED
    assert "was stopped" in outcome.sentence()


def test_stop_kills_what_does_not_listen_and_its_children(
    processes: Processes, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.work.process.STOP_AFTER_S", 0.2)
    watcher = _run(processes, _DEAF_FAMILY)
    pids = _family(watcher, qtbot)
    watcher.process.stop()
    watcher.process.stop()  # a second time changes nothing
    assert watcher.wait(qtbot).end is End.STOPPED
    qtbot.waitUntil(lambda: not any(map(_is_alive, pids)), timeout=10_000)


@linux
def test_leaves_no_grandchild_when_the_program_ends(processes: Processes, qtbot: QtBot) -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(child.pid)"
    )
    watcher = _run(processes, code)
    assert watcher.wait(qtbot).is_success
    assert not _is_alive(int(watcher.lines[0]))


def test_stop_all_and_wait_ends_everything(processes: Processes, qtbot: QtBot) -> None:
    watchers = [_run(processes, "import time; print('up'); time.sleep(60)") for _ in range(3)]
    pids = [pid for watcher in watchers for pid in watcher.process.pids()]
    assert pids
    assert processes.stop_all_and_wait()
    assert [watcher.outcomes[0].end for watcher in watchers] == [End.STOPPED] * 3
    assert not any(map(_is_alive, pids))


@linux
def test_names_the_process_ids_of_the_program_and_its_children(
    processes: Processes, qtbot: QtBot
) -> None:
    watcher = _run(processes, "import os, time; print(os.getpid()); time.sleep(60)")
    qtbot.waitUntil(lambda: bool(watcher.lines), timeout=10_000)
    assert int(watcher.lines[0]) in watcher.process.pids()
    watcher.process.stop()
    watcher.wait(qtbot)
    assert watcher.process.pids() == ()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (139, "invalid memory access (SIGSEGV, exit code 139)"),
        (137, "memory ran out (SIGKILL, exit code 137)"),
        (134, "(SIGABRT, exit code 134)"),
        (3221225781, "a library (DLL) that it needs is missing (code 0xC0000135)"),
        (-1073741819, "invalid memory access (code 0xC0000005)"),
        (1, "exit code 1"),
    ],
)
def test_explains_exit_codes_in_words(code: int, words: str) -> None:
    assert words in Outcome("llama-server", End.EXITED, code).sentence()


_DEAF_FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, '-c',
    'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);'
    'print(1, flush=True); time.sleep(60)'], stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(os.getpid(), child.pid)
time.sleep(60)
"""


def _family(watcher: Watcher, qtbot: QtBot) -> list[int]:
    qtbot.waitUntil(lambda: bool(watcher.lines), timeout=10_000)
    return [int(word) for word in watcher.lines[0].split()]


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@linux
def test_leaves_nothing_when_it_is_killed_itself(qtbot: QtBot, tmp_path: Path) -> None:
    # kill -9 of a process that runs a program through Processes
    host = Path(__file__).with_name("process_host.py")
    parent = psutil.Popen(
        [sys.executable, str(host), sys.executable, "-I", "-u", "-c", _DEAF_FAMILY],
        stdout=-1,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    try:
        pids = [int(word) for word in parent.stdout.readline().split()]
        family = {child.pid for child in parent.children(recursive=True)}
        assert set(pids) < family  # and the guard
        assert all(map(_is_alive, pids))
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    qtbot.waitUntil(lambda: not any(map(_is_alive, family)), timeout=10_000)
