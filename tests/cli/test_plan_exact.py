"""slowscope plan --exact with the real programs."""

import json
from pathlib import Path

import pytest

from app.cli import main

pytestmark = pytest.mark.real


def test_prints_both_words_and_that_they_agree(
    llama_bin: Path, gemma: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", str(gemma), "--ctx", "4096", "--cpu", "avx2", "--llama-bin", str(llama_bin)]
    assert main([*words, "--exact"]) == 0
    text = capsys.readouterr().out
    (line,) = [line for line in text.splitlines() if "CPU_REPACK   weights" in line]
    assert line.split()[-4:] == ["12.66", "MiB", "12", "MiB"]
    assert "Both agree" in text
    assert "llama-server build 11434" in text


@pytest.mark.parametrize("program", ["llama-server", "llama-bench", "llama-fit-params"])
def test_json_names_what_llama_cpp_says_of_each_program(
    llama_bin: Path, gemma: Path, capsys: pytest.CaptureFixture[str], program: str
) -> None:
    words = ["plan", str(gemma), "--ctx", "4096", "--cpu", "avx2", "--llama-bin", str(llama_bin)]
    assert main([*words, "--program", program, "--exact", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["llama_says"]
    asked = "llama-server" if program == "llama-server" else "llama-fit-params"
    assert said["program"] == asked
    assert said["differences"] == []
    rows = {row["buffer"]: row for row in said["rows"]}
    assert rows["Host"]["weights_bytes"] == 222 << 20
    # llama-fit-params reserves the logits of a whole batch, llama-server of its slots
    is_server = program == "llama-server"
    assert (rows["Host"]["compute_bytes"] < 100 << 20) is is_server


def test_asks_about_an_incomplete_download_and_leaves_no_copy(
    llama_bin: Path, deepseek_header: Path, user_folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", str(deepseek_header), "--ctx", "4096", "--cpu", "avx2", "--no-device"]
    assert main([*words, "--llama-bin", str(llama_bin), "--exact", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["llama_says"]
    assert said["is_sparse_copy"]
    rows = {row["buffer"]: row for row in said["rows"]}
    # placement.md 4.5: a real DeepSeek-R1-Distill-Qwen-7B header
    assert rows["Host"]["weights_bytes"] == 1483 << 20
    assert rows["CPU_REPACK"]["weights_bytes"] == 2976 << 20
    assert said["differences"] == []
    assert list((user_folders / "cache" / "headers").iterdir()) == []


def test_says_that_described_devices_cannot_be_asked_about(
    gemma: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(gemma), "--device-free", "8192", "--exact"]) == 2
    assert "--device-free" in capsys.readouterr().err
