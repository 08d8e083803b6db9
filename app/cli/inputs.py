"""Makes one evidence of the files that were named: models, logs, recordings, bench outputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.cli import BAD_USAGE, UNREADABLE, CommandError
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.log import LogSummary
from app.core.machine import Machine
from app.core.model import Model
from app.probes import recorded
from app.work.machine_reader import read_machine


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the files hold together; model is set when a model and nothing else was named."""

    evidence: Evidence
    model: Model | None = None


def read_inputs(names: Sequence[str]) -> Inputs:
    """Read files and recording folders; one that cannot be read ends the command."""
    from app.work.jobs import Cancel, Progress
    from app.work.readers import read_files

    folders = [name for name in names if Path(name).is_dir()]
    files = [name for name in names if name not in folders]
    found = read_files(files, Cancel(), Progress(lambda _percent, _text: None))
    for entry in found.opened:
        if entry.file is not None:
            entry.file.close()
    if found.errors:
        raise CommandError.of(UNREADABLE, found.errors[0])
    parts = [entry.part for entry in found.opened]
    machines = [_recorded(Path(name)) for name in folders]
    # all parts of a split model are the same model
    _refuse_two(len({part.path for part in parts if isinstance(part, Model)}), "model")
    _refuse_two(sum(isinstance(part, LogSummary) for part in parts), "log")
    _refuse_two(sum(isinstance(part, Evidence) for part in parts), "evidence file")
    _refuse_two(len(machines), "hardware recording")
    evidence = found.onto(Evidence())
    if machines:
        return Inputs(replace(evidence, machine=machines[0]))
    is_model_alone = all(isinstance(part, Model) for part in parts)
    return Inputs(evidence, evidence.model if is_model_alone else None)


def _recorded(folder: Path) -> Machine:
    if not (folder / recorded.ANSWERS_FILE).is_file():
        raise CommandError(
            UNREADABLE,
            f"{folder.name or folder} is a folder, and holds no hardware recording "
            f"({recorded.ANSWERS_FILE} and {recorded.FILES_FOLDER}, as hardware --record writes "
            "them). For a model or a log, name the file itself.",
        )
    try:
        return read_machine(recorded.load(folder))
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error


def _refuse_two(n: int, what: str) -> None:
    if n > 1:
        raise CommandError(BAD_USAGE, f"Give one {what}; {n} were given.")
