"""slowscope report: saved evidence as PDF, HTML, Markdown or the fields of an issue form."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import cli
from app.core import codec
from tests.house.tree import ROOT
from tests.report import sample

LOG_LINE = "load_tensors:      Vulkan0 model buffer size =    29.34 MiB"
# what a command loads; the window's libraries are not wanted where there is no window
LOADED = """
import sys
from app import cli
status = cli.main(sys.argv[1:])
qt = sorted(name for name in sys.modules if name.startswith(("PySide6", "pyqtgraph")))
print(status, qt, file=sys.stderr)
"""


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """Write an evidence file with every part in it."""
    path = tmp_path / "evidence.json"
    path.write_bytes(codec.dumps(sample.evidence()))
    return path


def _refused(capsys: pytest.CaptureFixture[str], status: int, *words: object) -> str:
    assert cli.main(["report", *map(str, words)]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


@pytest.mark.usefixtures("qapp")
def test_writes_each_kind_of_file_without_personal_details(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option, name in (("--html", "r.html"), ("--markdown", "r.md"), ("--pdf", "r.pdf")):
        path = tmp_path / name
        assert cli.main(["report", str(evidence), option, str(path)]) == cli.ANSWERED
        data = path.read_bytes()
        assert b"/home/peter" not in data and b"geheim" not in data
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert LOG_LINE in (tmp_path / "r.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("project", "title"),
    [
        ("llama.cpp", "### Name and Version"),
        ("ollama", "### What is the issue?"),
        ("lm-studio", "### Which version of LM Studio?"),
    ],
)
def test_prints_the_fields_of_an_issue_form(
    project: str, title: str, evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", str(evidence), "--issue", project]) == cli.ANSWERED
    text = capsys.readouterr().out
    assert text.startswith(f"{title}\n")
    assert LOG_LINE in text
    assert "/home/peter" not in text


def test_wants_exactly_one_form(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--issue" in _refused(capsys, cli.BAD_USAGE, evidence)
    both = (evidence, "--html", "a.html", "--markdown", "a.md")
    assert "not allowed with" in _refused(capsys, cli.BAD_USAGE, *both)


def test_says_what_is_wrong_with_a_file(
    evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = _refused(capsys, cli.UNREADABLE, tmp_path / "gone.json", "--issue", "ollama")
    assert "No such file" in gone
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(b"%PDF-1.4 ...")
    assert "attached to this PDF" in _refused(capsys, cli.UNREADABLE, pdf, "--issue", "ollama")
    other = tmp_path / "other.json"
    other.write_text('{"schema": "slowscope.plan/1"}')
    assert "slowscope.plan/1" in _refused(capsys, cli.UNREADABLE, other, "--issue", "ollama")
    taken = _refused(capsys, cli.FAILED, evidence, "--html", tmp_path / "no" / "r.html")
    assert "Choose another folder" in taken


@pytest.mark.parametrize("words", [("--html", "r.html"), ("--markdown", "r.md"),
                                   ("--issue", "ollama")])  # fmt: skip
def test_needs_no_qt_without_a_pdf(words: tuple[str, str], evidence: Path) -> None:
    assert _loaded(evidence.parent, "report", str(evidence), *words) == "0 []"


@pytest.mark.parametrize("command", ["bench", "diagnose", "report"])
def test_loads_no_qt_to_say_how_it_is_used(command: str, tmp_path: Path) -> None:
    assert _loaded(tmp_path, command, "--help") == "0 []"
    assert _loaded(tmp_path, command) == "2 []"


def _loaded(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr.splitlines()[-1]
