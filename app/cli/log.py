"""The subcommand log: the story that a log tells, and the lines it rests on."""

import json
import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from app import product
from app.cli import ANSWERED, UNREADABLE, CommandError
from app.cli.log_text import log_text
from app.core.errors import UserError
from app.core.log import LogSummary
from app.core.log_json import SCHEMA, log_json
from app.gguf.sniff import FileKind, sniff
from app.logs.scan import scan_file

_STDIN = "-"
_NOT_TEXT = (
    FileKind.PROGRAM,
    FileKind.ZIP,
    FileKind.SAFETENSORS,
    FileKind.PICKLE,
    FileKind.OLD_GGML,
    FileKind.PDF,
)


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("file", metavar="FILE|-", help="a log of llama.cpp; - is standard input")
    parser.add_argument("--json", action="store_true", help=f"print {SCHEMA}")


def main(options: Namespace) -> int:
    """Print what the log says and return the exit status."""
    try:
        summary = _from_stdin() if options.file == _STDIN else _scan(Path(options.file))
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error
    except OSError as error:
        raise CommandError(UNREADABLE, f"{options.file}: {error.strerror}.") from error
    if options.json:
        print(json.dumps(log_json(summary), indent=2, ensure_ascii=False))
    else:
        print(log_text(summary), end="")
    return ANSWERED


def _scan(path: Path) -> LogSummary:
    kind = sniff(path)
    if kind is FileKind.GGUF:
        advice = f"Ask for its placement: {product.SLUG} plan {path.name}"
        raise UserError(f"{path.name} is a model, not a log", advice=advice)
    if kind in _NOT_TEXT:
        raise UserError(f"{path.name} is not a log", "It is not text.")
    return _read(path, path.name)


def _read(path: Path, name: str) -> LogSummary:
    """Scan in any encoding; with no known line in it, an empty or binary file is called so."""
    summary = replace(scan_file(path), name=name)
    kind = sniff(path)
    if kind is FileKind.EMPTY:
        advice = "Let the program write its log first, for example with --log-file."
        raise UserError(f"{name} is empty", advice=advice)
    if kind in (FileKind.UNKNOWN, FileKind.ZEROS) and not summary.events:
        raise UserError(f"{name} is not a log", "It is binary, and holds no text.")
    return summary


def _from_stdin() -> LogSummary:
    """Read to the end, then scan: any encoding is told from the first bytes, as with a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return _read(path, "standard input")
