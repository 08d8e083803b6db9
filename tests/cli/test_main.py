"""The command line itself: exit statuses, one sentence for what went wrong, no traceback."""

import io
import subprocess
import sys

import pytest

from app import cli, product
from app.cli import CommandError
from app.core.errors import UserError
from tests.house.tree import ROOT

PLAN = [sys.executable, "-m", "app", "plan"]


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["plan", "--help"]])
def test_prints_help_and_version(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == cli.ANSWERED
    printed = capsys.readouterr()
    assert product.NAME.lower() in printed.out.lower()
    assert printed.err == ""


@pytest.mark.parametrize(
    "words", [[], ["--bogus"], ["plan"], ["plan", "x.gguf", "--bogus"], ["nonsense"]], ids=str
)
def test_bad_usage_ends_with_2_and_one_sentence(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == cli.BAD_USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("slowscope: ")
    assert printed.err.count("\n") == 1
    assert "--help" in printed.err


def test_every_command_in_the_table_can_be_asked_for_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in cli.COMMANDS:
        assert cli.main([name, "--help"]) == cli.ANSWERED
        assert f"slowscope {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (CommandError(cli.UNREADABLE, "It is\nnot there."), cli.UNREADABLE),
        (UserError("It failed", "Because."), cli.FAILED),
        (KeyboardInterrupt(), cli.FAILED),
    ],
    ids=["refused", "failed", "stopped"],
)
def test_an_error_is_one_line(
    error: BaseException,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main(["plan"]) == status
    assert capsys.readouterr().err.count("\n") == 1


def test_signs_that_the_console_lacks_do_not_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    narrow = io.TextIOWrapper(written, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)

    def speak(_arguments: list[str]) -> int:
        print("6× \udcff")
        return cli.ANSWERED

    monkeypatch.setattr(cli, "_run", speak)
    assert cli.main([]) == cli.ANSWERED
    assert written.getvalue() == b"6? ?\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows reports a closed pipe otherwise")
def test_a_reader_that_has_enough_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app", "--help"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        program.stdout.close()
        _out, err = program.communicate(timeout=60)
    assert (program.returncode, err) == (0, b"")


def test_stops_at_ctrl_c_while_a_measuring_command_loads() -> None:
    # as a user's Ctrl+C in the first second: in the middle of an import
    code = (
        "import importlib, os, signal\n"
        "from app import cli\n"
        "importlib.import_module = lambda _name: os.kill(os.getpid(), signal.SIGINT)\n"
        "cli.main(['diagnose', 'model.gguf'])\n"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (cli.FAILED, "")
    assert ended.stderr.endswith(": Stopped.\n")
    assert "Traceback" not in ended.stderr
