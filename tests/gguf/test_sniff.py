"""Files are told apart by content; the names in these tests say nothing."""

import json
from pathlib import Path

import pytest

from app import product
from app.core.errors import UserError
from app.gguf.model import read_model
from app.gguf.sample import write_sample
from app.gguf.sniff import FileKind, sniff

LOGS = Path(__file__).parent.parent / "data" / "logs"
POINTER = b"""version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 253113024
"""
SAFETENSORS = b'{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1]}}'

CONTENTS = {
    "empty": (b"", FileKind.EMPTY, "empty"),
    "web page": (b"<!DOCTYPE html>\n<html lang='en'>", FileKind.HTML, "web page"),
    "web page, odd": (b"\xef\xbb\xbf \n<HTML><body>", FileKind.HTML, "web page"),
    "xml": (b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code>", FileKind.HTML, "web page"),
    "pointer": (POINTER, FileKind.GIT_LFS, "253,113,024 bytes"),
    "safetensors": (
        len(SAFETENSORS).to_bytes(8, "little") + SAFETENSORS + bytes(4),
        FileKind.SAFETENSORS,
        "safetensors",
    ),
    "zip": (b"PK\x03\x04\x14\0\0\0", FileKind.ZIP, "zip"),
    "gzip": (b"\x1f\x8b\x08\0\0", FileKind.ARCHIVE, "archive"),
    "pickle": (b"\x80\x02}q\0", FileKind.PICKLE, "PyTorch"),
    "ggjt": (b"tjgg\x03\0\0\0", FileKind.OLD_GGML, "before August 2023"),
    "ggml": (b"lmgg\0\x7d\0\0", FileKind.OLD_GGML, "before August 2023"),
    "zeros": (bytes(100_000), FileKind.ZEROS, "zeros"),
    "program": (b"\x7fELF\x02\x01\x01\0", FileKind.PROGRAM, "program"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3", FileKind.PDF, "PDF"),
    "error text": (b"Entry not found", FileKind.LOG, "Entry not found"),
    "error json": (b'{"error":"Repository not found"}', FileKind.JSON, "JSON"),
    "binary": (bytes(range(1, 256)) * 50, FileKind.UNKNOWN, "no format known"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_tells_what_a_file_is_and_why_it_is_no_model(tmp_path: Path, name: str) -> None:
    content, kind, words = CONTENTS[name]
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    assert sniff(path) is kind
    with pytest.raises(UserError) as caught:
        read_model(path)
    assert caught.value.title == "model.gguf is not a GGUF model"
    assert words in caught.value.detail
    assert caught.value.advice


def test_tells_a_model_when_its_name_does_not(tmp_path: Path) -> None:
    write_sample(tmp_path / "notes.txt")
    assert sniff(tmp_path / "notes.txt") is FileKind.GGUF


def test_tells_a_folder(tmp_path: Path) -> None:
    assert sniff(str(tmp_path)) is FileKind.FOLDER


def test_passes_on_that_a_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        sniff(tmp_path / "none")


def test_tells_captures_apart() -> None:
    captures = [path for path in sorted(LOGS.iterdir()) if path.is_file()]
    kinds = {path.name: sniff(path) for path in captures if path.suffix != ".json"}
    outputs = (".csv", ".jsonl", ".sql", ".txt")
    benches = {n for n in kinds if "llama-bench" in n and n.endswith(outputs)}
    benches.add("b11434-llama-bench-progress.log")  # rows between progress lines
    assert len(benches) > 5
    assert {n for n, kind in kinds.items() if kind is FileKind.BENCH} == benches
    assert {kinds[n] for n in kinds.keys() - benches} == {FileKind.LOG}
    for path in LOGS.glob("*llama-bench*.json"):
        assert sniff(path) is FileKind.BENCH
    for path in (LOGS / "public").glob("*.log"):
        assert sniff(path) in (FileKind.LOG, FileKind.BENCH), path.name


def test_takes_a_failed_bench_for_a_log() -> None:
    # its table has a head and no row; what matters is the error above it
    assert sniff(LOGS / "b11434-llama-bench-error-missing-file.log") is FileKind.LOG


@pytest.mark.parametrize(
    "text",
    [
        "[GIN] 2026/01/02 - 03:04:05 | 200 |",
        "[2026-01-02 03:04:05][INFO] loaded",
        '{"type":"log","msg":"a"}\n{"type":"log","msg":"b"}\n',
        "a line\nand a stray \0 byte" + "\nmore" * 100,
        "plain \x1b[31mred\x1b[0m",
    ],
)
def test_takes_odd_logs_for_logs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    assert sniff(path) is FileKind.LOG


def test_takes_utf16_of_powershell_for_a_log(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("load_tensors: offloaded 1/2 layers to GPU", encoding="utf-16")
    assert sniff(path) is FileKind.LOG


def test_tells_our_own_documents(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for indent in (None, 2):
        path.write_text(json.dumps({"schema": product.schema("evidence"), "x": 1}, indent=indent))
        assert sniff(path) is FileKind.EVIDENCE
    path.write_text(json.dumps({"schema": "other/1"}))
    assert sniff(path) is FileKind.JSON
