"""Tells by its content, not by its name, what a file is."""

import json
import re
import stat
from enum import Enum
from pathlib import Path

from app.core import units
from app.product import NAME, SCHEMA_PREFIX

HEAD_BYTES = 256 << 10


class FileKind(Enum):
    """What a file is."""

    GGUF = "gguf"
    LOG = "log"  # text; whether it is a log of a runtime shows when it is scanned
    EVIDENCE = "evidence"  # a JSON document of this program
    BENCH = "bench"  # output of llama-bench, in any of its formats
    PDF = "pdf"
    FOLDER = "folder"
    EMPTY = "empty"
    HTML = "html"
    JSON = "json"
    GIT_LFS = "git-lfs"
    SAFETENSORS = "safetensors"
    OLD_GGML = "old-ggml"
    ZIP = "zip"
    ARCHIVE = "archive"
    PICKLE = "pickle"
    PROGRAM = "program"
    ZEROS = "zeros"
    SPECIAL = "special"  # a pipe, a device
    UNKNOWN = "unknown"


_MAGICS = (
    (b"GGUF", FileKind.GGUF),
    (b"%PDF-", FileKind.PDF),
    (b"PK\x03\x04", FileKind.ZIP),
    (b"PK\x05\x06", FileKind.ZIP),
    # ggml, ggmf, ggjt, ggla: little-endian words, so they stand backwards in the file
    (b"lmgg", FileKind.OLD_GGML),
    (b"fmgg", FileKind.OLD_GGML),
    (b"tjgg", FileKind.OLD_GGML),
    (b"algg", FileKind.OLD_GGML),
    (b"\x1f\x8b", FileKind.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", FileKind.ARCHIVE),
    (b"Rar!", FileKind.ARCHIVE),
    (b"\xfd7zXZ", FileKind.ARCHIVE),
    (b"BZh", FileKind.ARCHIVE),
    (b"\x28\xb5\x2f\xfd", FileKind.ARCHIVE),
    (b"\x80\x02", FileKind.PICKLE),
    (b"\x80\x03", FileKind.PICKLE),
    (b"\x80\x04", FileKind.PICKLE),
    (b"\x7fELF", FileKind.PROGRAM),
    (b"MZ", FileKind.PROGRAM),
    (b"\xcf\xfa\xed\xfe", FileKind.PROGRAM),
    (b"version https://git-lfs.github.com/", FileKind.GIT_LFS),
)
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|\?xml)\b", re.IGNORECASE)
_SCHEMA = re.compile(rb'"schema"\s*:\s*"' + SCHEMA_PREFIX.encode() + rb"\.")
_BENCH = re.compile(
    rb"^\| .*\| +\d[\d.]* \S{1,8} \d[\d.]* \|"  # a row of markdown; a failed run has none
    rb"|^build_commit,build_number,"  # csv
    rb"|^CREATE TABLE IF NOT EXISTS (?:llama_bench|test) \(\s*build_commit "  # sql, 2026 and 2024
    rb'|^\s*\{\s*"build_commit"\s*:',  # json, jsonl
    re.MULTILINE,
)
_JSON = re.compile(rb"[\[{]\s*[\"{\[}\]]")  # not [2026-01-01 ...], as logs begin
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))
_LFS_SIZE = re.compile(rb"^size (\d{1,18})$", re.MULTILINE)

_GET_GGUF = "Get the GGUF file of the same model."
_AGAIN = "Download it again with the file's own download link."

# what the file is, what to do
_WORDS = {
    FileKind.LOG: ("The file is a text", _AGAIN),
    FileKind.EVIDENCE: (f"It is an evidence file of {NAME}", "Open it in Diagnose."),
    FileKind.BENCH: ("It is the output of llama-bench", "Open it in Benchmark."),
    FileKind.PDF: ("It is a PDF document", _GET_GGUF),
    FileKind.FOLDER: ("It is a folder", "Open the .gguf file inside it."),
    FileKind.EMPTY: ("The file is empty (0 bytes): the download did not start", _AGAIN),
    FileKind.HTML: (
        "It is a web page (HTML): the page about the model was saved, or an error page",
        _AGAIN,
    ),
    FileKind.JSON: ("It is a JSON text, perhaps an error message of the server", _AGAIN),
    FileKind.GIT_LFS: (
        "It is a git-lfs pointer: a note of where the model is, not the model",
        "Run `git lfs pull` in its folder, or download the file itself.",
    ),
    FileKind.SAFETENSORS: (
        "It is a safetensors file, the format before conversion",
        "Get the GGUF of the same model, or convert it with llama.cpp's convert_hf_to_gguf.py.",
    ),
    FileKind.OLD_GGML: (
        "It is a GGML file of before August 2023; current programs no longer read these",
        _GET_GGUF,
    ),
    FileKind.ZIP: (
        "It is a zip archive, which PyTorch models are too",
        "Unpack it if it holds a .gguf file; else get the GGUF of the same model.",
    ),
    FileKind.ARCHIVE: ("It is a packed archive", "Unpack it and open the .gguf file inside."),
    FileKind.PICKLE: ("It is a PyTorch file", _GET_GGUF),
    FileKind.PROGRAM: ("It is a program; a llamafile holds its model packed inside", _GET_GGUF),
    FileKind.ZEROS: (
        "It begins with zeros: the download has set its room aside but not filled it",
        "Let the download finish, or start it again.",
    ),
    FileKind.SPECIAL: ("It is a pipe or a device, not a file", "Open a file on a disk."),
    FileKind.UNKNOWN: ("Its first bytes are those of no format known here", _AGAIN),
}


def sniff(path: str | Path) -> FileKind:
    """Tell what a file is from its first bytes; OSError when it cannot be read."""
    kind, _ = _look(Path(path))
    return kind


def refusal(path: Path) -> tuple[str, str, str]:
    """Say what a file that is no GGUF is instead: title, detail and advice for a UserError."""
    kind, head = _look(path)
    what, advice = _WORDS.get(kind, _WORDS[FileKind.UNKNOWN])
    detail = f"{what}. At offset 0 there should be GGUF, found {_show(head[:4])}."
    if kind is FileKind.GIT_LFS and (size := _LFS_SIZE.search(head)):
        detail += f" The model has {int(size[1]):,} bytes ({units.size(int(size[1]))})."
    if kind is FileKind.LOG:
        first = head[:80].decode("utf-8", errors="replace").lstrip().split("\n", 1)[0]
        detail += f" It begins: {''.join(c if c.isprintable() else '.' for c in first)}"
    if kind in (FileKind.FOLDER, FileKind.EMPTY, FileKind.SPECIAL):
        detail = f"{what}."
    return f"{path.name} is not a GGUF model", detail, advice


def _look(path: Path) -> tuple[FileKind, bytes]:
    """Return the kind and the first bytes, as many as were looked at."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        return FileKind.FOLDER, b""
    if not stat.S_ISREG(mode):
        return FileKind.SPECIAL, b""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return _kind(head), head


def _kind(head: bytes) -> FileKind:
    if not head:
        return FileKind.EMPTY
    for magic, kind in _MAGICS:
        if head.startswith(magic):
            return kind
    if not head[:4096].strip(b"\0"):
        return FileKind.ZEROS
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):  # PowerShell's > writes logs in UTF-16
        return FileKind.LOG
    # 8 bytes of length, at most 100 MB by its own rules, then the JSON header
    if head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= 100_000_000:
        return FileKind.SAFETENSORS
    # a log may hold a few stray control bytes and still is one
    if 100 * (len(head) - len(head.translate(None, _CONTROLS))) > len(head):
        return FileKind.UNKNOWN
    return _kind_of_text(head.removeprefix(b"\xef\xbb\xbf").lstrip())


def _kind_of_text(text: bytes) -> FileKind:
    if _HTML.match(text):
        return FileKind.HTML
    if _BENCH.search(text):
        return FileKind.BENCH
    if _JSON.match(text):
        if _SCHEMA.search(text):
            return FileKind.EVIDENCE
        return FileKind.LOG if _is_json_lines(text) else FileKind.JSON
    return FileKind.LOG


def _is_json_lines(text: bytes) -> bool:
    """Tell whether the first line is an object of its own and another follows (--log-jsonl)."""
    first, _, rest = text.partition(b"\n")
    try:
        return isinstance(json.loads(first), dict) and rest.lstrip().startswith(b"{")
    except (ValueError, RecursionError):
        return False


def _show(data: bytes) -> str:
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)
    return f"{text!r} ({data.hex(' ')})"
