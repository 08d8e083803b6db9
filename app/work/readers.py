"""Reads dropped files by what they hold and makes of each the part of the evidence it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.core import codec
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.log import LogSummary
from app.core.model import Model
from app.gguf.model import read_model
from app.gguf.sniff import FileKind, refusal, sniff
from app.logs.bench_output import BenchOutput
from app.work import bench_output
from app.work.jobs import Cancel, Progress

if TYPE_CHECKING:
    from app.work.log_file import LogFile

_OPENS = "What is read here: a GGUF model, a log, an output of llama-bench, an evidence file."


@dataclass(frozen=True, slots=True)
class Opened:
    """One file and the part it became."""

    path: Path
    kind: FileKind
    part: Model | LogSummary | BenchOutput | Evidence
    file: LogFile | None = None  # of a log


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What several files became; a file that cannot be read does not spoil the others."""

    opened: tuple[Opened, ...]
    errors: tuple[UserError, ...]

    def onto(self, evidence: Evidence) -> Evidence:
        """Return the evidence with all parts; an evidence file is the base for the others."""
        for part in (entry.part for entry in self.opened):
            if isinstance(part, Evidence):
                evidence = part
        for part in (entry.part for entry in self.opened):
            if isinstance(part, Model):
                evidence = replace(evidence, model=part)
            elif isinstance(part, LogSummary):
                # a load's outcome belongs to the log that it wrote
                evidence = replace(evidence, log=part, outcome=None)
            elif isinstance(part, BenchOutput):
                evidence = replace(evidence, runs=(*evidence.runs, *part.runs))
        return evidence

    def holds(self, kind: FileKind) -> bool:
        """Tell whether a file of this kind was among them."""
        return any(entry.kind is kind for entry in self.opened)


def read_files(
    files: Sequence[str],
    cancel: Cancel,
    progress: Progress,
    log_found: Callable[[LogFile], None] = lambda _file: None,
) -> ReadResult:
    """Read each file; meant to run in a Job. A log is handed on before it is read."""
    opened: list[Opened] = []
    errors: list[UserError] = []
    for number, name in enumerate(files):
        cancel.check()
        path = Path(name)
        progress(100 * number // len(files), f"Reading {path.name}")
        try:
            opened.append(_read(path, cancel, progress, log_found))
        except UserError as error:
            errors.append(error)
        except OSError as error:
            errors.append(_unreadable(path, error))
    return ReadResult(tuple(opened), tuple(errors))


def _read(
    path: Path, cancel: Cancel, progress: Progress, log_found: Callable[[LogFile], None]
) -> Opened:
    kind = sniff(path)
    if kind is FileKind.GGUF:
        return Opened(path, kind, read_model(path, cancel))
    if kind is FileKind.LOG:
        from app.work.log_file import LogFile  # numpy is loaded only when a log is opened

        file = LogFile(path)
        log_found(file)
        return Opened(path, kind, file.read_all(cancel, progress), file)
    if kind is FileKind.BENCH:
        return Opened(path, kind, bench_output.read_file(path))
    if kind is FileKind.EVIDENCE:
        return Opened(path, kind, _evidence(path))
    _, detail, advice = refusal(path)
    raise UserError(f"{path.name} cannot be opened here", detail, f"{advice} {_OPENS}".strip())


def _evidence(path: Path) -> Evidence:
    with path.open("rb") as file:
        return codec.loads(file.read(codec.MAX_BYTES + 1))


def _unreadable(path: Path, error: OSError) -> UserError:
    if isinstance(error, FileNotFoundError):
        return UserError(f"{path.name} is not there", f"{path} does not exist")
    if isinstance(error, PermissionError):
        return UserError(
            f"{path.name} may not be read", f"The system refuses it: {path}", "Check its rights."
        )
    return UserError(f"{path.name} could not be read", f"{error.strerror or error}")
