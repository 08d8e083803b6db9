"""slowscope log: the story of captured logs as text and JSON, from files and from a pipe."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.core.log_json import SCHEMA
from tests.house.tree import ROOT

LOGS = Path(__file__).parents[1] / "data" / "logs"
NO_DEVICE = LOGS / "b10434-vulkan-device-none-ngl99-lv4.log"
PARTIAL = LOGS / "b10434-vulkan-partial-ngl9-lv4.log"
CUT_FILE = LOGS / "b11434-load-error-truncated-data.log"
HIDDEN = LOGS / "b11434-cpu-healthy-default-verbosity.log"


def _text(capsys: pytest.CaptureFixture[str], path: Path | str) -> str:
    assert cli.main(["log", str(path)]) == cli.ANSWERED
    return capsys.readouterr().out


def _json(capsys: pytest.CaptureFixture[str], path: Path | str) -> dict[str, Any]:
    assert cli.main(["log", str(path), "--json"]) == cli.ANSWERED
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_says_that_nothing_is_on_the_device_though_all_layers_were_offloaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join(_text(capsys, NO_DEVICE).split())
    assert "No weights are on a device" in text
    assert "offloaded 19/19, which only repeats the request" in text


def test_lists_each_buffer_with_where_it_is_and_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [line.split() for line in _text(capsys, PARTIAL).splitlines()]
    assert ["Vulkan0", "device", "weights", "147", "29.34", "MiB"] in lines
    assert ["CPU", "system", "memory", "KV", "cache", "168", "26.50", "MiB"] in lines


def test_gives_the_same_bytes_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    (load,) = _json(capsys, PARTIAL)["loads"]
    assert load["offload_line"] == [9, 19]
    assert load["weights_on_device"] is True
    device = [b for b in load["buffers"] if b["kind"] == "device" and b["role"] == "weights"]
    assert [(b["name"], b["bytes"], b["line"]) for b in device] == [
        ("Vulkan0", round(29.34 * 1024 * 1024), 147)
    ]


def test_names_the_cause_of_a_failed_load_once(capsys: pytest.CaptureFixture[str]) -> None:
    text = _text(capsys, CUT_FILE)
    assert "The load failed: The file is cut short" in text
    assert "(line 5)" in text
    assert text.count("blk.4.ffn_down.weight") == 1
    assert "also in line 8" in text
    assert "-lv 4" not in text


@pytest.mark.parametrize(
    ("name", "headline"),
    [
        ("b11434-load-error-split-missing", "tiny-split-00002-of-00002.gguf is not there"),
        ("b11434-load-error-html-page", "what was saved is a web page"),
        ("b11434-load-error-git-lfs-pointer", "what was saved is a Git LFS pointer"),
        ("b11434-rpc-server-unreachable", "does not answer at 127.0.0.1:52249"),
        ("b11434-port-in-use-default-verbosity", "could not open port 52230"),
        ("b10434-vulkan-oom-compute-default-verbosity", "takes no single buffer so large"),
    ],
)
def test_the_headline_names_what_the_line_names(
    capsys: pytest.CaptureFixture[str], name: str, headline: str
) -> None:
    text = " ".join(_text(capsys, LOGS / f"{name}.log").partition("program  ")[0].split())
    assert headline in text


def test_says_that_no_model_is_named_when_none_is(capsys: pytest.CaptureFixture[str]) -> None:
    text = _text(capsys, LOGS / "b11434-port-in-use-default-verbosity.log")
    assert "lines 4 to 6: no model is named\n" in text


def test_a_log_that_hides_placement_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    text = _text(capsys, HIDDEN)
    assert "does not show in this log" in text
    assert "run again with -lv 4" in text
    assert "too few tokens to mean much" in text
    (load,) = _json(capsys, HIDDEN)["loads"]
    assert load["weights_on_device"] is None


def test_reads_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PARTIAL.read_bytes())))
    piped = _json(capsys, "-")
    filed = _json(capsys, PARTIAL)
    assert piped["name"] == "standard input"
    assert piped | {"name": ""} == filed | {"name": ""}


def test_says_that_the_pipe_was_empty_when_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert cli.main(["log", "-"]) == cli.UNREADABLE
    assert "standard input is empty" in capsys.readouterr().err


def test_reads_what_powershell_writes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"\xff\xfe" + PARTIAL.read_text(encoding="utf-8").encode("utf-16-le"))
    assert "29.34 MiB" in _text(capsys, path)


def test_a_file_without_a_load_is_an_answer_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "some.log"
    path.write_bytes(b"hello\nworld\n")
    text = _text(capsys, path)
    assert "no model load" in text
    assert "No line of it is known" in text


def test_every_capture_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted(LOGS.glob("*.log")):
        text = _text(capsys, path)
        loads = _json(capsys, path)["loads"]
        assert text.count("\nLoad ") == len(loads)


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("model.gguf", b"GGUF" + b"\0" * 20, "is a model"),
        ("program", b"\x7fELF" + b"\0" * 100, "not text"),
        ("archive.zip", b"PK\x03\x04" + b"\0" * 100, "not text"),
        ("some.log", b"", "some.log is empty"),
        ("some.log", b"\xff\x00\x01" * 1000, "It is binary, and holds no text"),
        ("some.log", bytes(1000), "It is binary, and holds no text"),
    ],
)
def test_a_file_that_is_no_log_is_status_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: bytes, word: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert cli.main(["log", str(path)]) == cli.UNREADABLE
    streams = capsys.readouterr()
    assert word in streams.err
    assert streams.err.count("\n") == 1
    assert not streams.out


def test_a_missing_file_and_a_folder_are_status_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for path in (tmp_path / "none.log", tmp_path):
        assert cli.main(["log", str(path)]) == cli.UNREADABLE
        assert capsys.readouterr().err.count("\n") == 1


def test_no_file_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["log"]) == cli.BAD_USAGE
    assert capsys.readouterr().err


def test_loads_no_qt() -> None:
    program = (
        "import sys\n"
        "from app import cli\n"
        f"status = cli.main(['log', {str(PARTIAL)!r}, '--json'])\n"
        "sys.exit(str([name for name in sys.modules if name.startswith('PySide6')] or status))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr.strip() == "0"
    assert json.loads(done.stdout)["schema"] == SCHEMA
