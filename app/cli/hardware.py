"""The subcommand hardware: what this computer has, each fact with its source or its reason."""

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from app.cli import ANSWERED, BAD_USAGE, UNREADABLE, CommandError
from app.core import bandwidth
from app.core.errors import UserError
from app.core.hardware_json import SCHEMA, hardware_json
from app.core.host import Host
from app.core.machine import Machine
from app.core.machine_text import machine_text
from app.core.short_home import short_home
from app.probes import recorded
from app.probes.host import RealHost
from app.probes.recorder import RecordingHost
from app.work import bandwidth_run, pasted_facts
from app.work.machine_reader import read_machine
from app.work.pasted_store import PastedStore
from app.work.settings import LLAMA_FOLDER, Settings


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("--json", action="store_true", help=f"print {SCHEMA}")
    parser.add_argument("--bandwidth", action="store_true",
                        help="first measure how fast memory is read (under 3 s; keep it quiet), "
                        "and keep the figure for r")  # fmt: skip
    parser.add_argument("--add", type=Path, metavar="FILE",
                        help="also keep what a tool printed into FILE, - for standard input: "
                        "dmidecode -t 17, nvidia-smi -q, system_profiler ... -json")  # fmt: skip
    parser.add_argument(
        "--forget",
        metavar="TOOL",
        help="leave out what --add kept of this tool, for example dmidecode",
    )
    parser.add_argument("--record", type=Path, metavar="DIR",
                        help="also write all answers of this computer to an empty or new folder, "
                        "without names and keys, for another person to replay")  # fmt: skip
    parser.add_argument("--replay", type=Path, metavar="DIR",
                        help="read a recording instead of this computer")  # fmt: skip


def main(options: Namespace) -> int:
    """Print what the computer has and return the exit status."""
    if options.replay is not None and options.record is not None:
        raise CommandError(BAD_USAGE, "Give --record or --replay, not both.")
    if options.replay is not None and options.bandwidth:
        raise CommandError(BAD_USAGE, "A recorded computer cannot be measured.")
    if options.replay is not None and (options.add is not None or options.forget is not None):
        raise CommandError(BAD_USAGE, "Facts are added to this computer, not to a recorded one.")
    text = _read(options.add)
    host, folders = _machine_to_ask(options.replay)
    recorder = RecordingHost(host, folders)
    if options.record is not None:
        _check_empty(options.record)
        host = recorder
    machine = read_machine(host, folders)
    if options.replay is None:
        machine = _with_kept(machine, text, options.forget)
        machine = _with_bandwidth(machine, is_wanted=options.bandwidth)
    machine = short_home(machine, host.home())
    if options.record is not None:
        _save(recorder, options.record)
    if options.json:
        print(json.dumps(hardware_json(machine), indent=2, ensure_ascii=False))
    else:
        print(machine_text(machine), end="")
    return ANSWERED


def _machine_to_ask(replay: Path | None) -> tuple[Host, tuple[str, ...]]:
    """Return the computer to ask, and the folders its user chose for llama.cpp."""
    if replay is None:
        folder = Settings().get(LLAMA_FOLDER)
        return RealHost(), (folder,) if folder else ()
    try:
        host = recorded.load(replay)
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error
    return host, host.chosen


def _read(path: Path | None) -> str | None:
    """Return the text to add, None when there is none."""
    if path is None:
        return None
    try:
        if str(path) == "-":
            return sys.stdin.read(pasted_facts.LIMIT)
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(pasted_facts.LIMIT)
    except OSError as error:
        raise CommandError(UNREADABLE, f"{path}: {error.strerror}.") from error


def _with_kept(machine: Machine, text: str | None, forgotten: str | None) -> Machine:
    """Return the machine with what is kept of tools' outputs, and say what was added to it."""
    store = PastedStore()
    if forgotten is not None:
        store.remove(machine, forgotten)
    machine = store.with_kept(machine)
    if text is None:
        return machine
    added = store.add(machine, text)
    if not pasted_facts.parsed(text)[1]:
        raise CommandError(UNREADABLE, added.sentence.replace("paste", "give"))
    print(added.sentence, file=sys.stderr)
    return added.machine


def _with_bandwidth(machine: Machine, *, is_wanted: bool) -> Machine:
    """Return the machine with its read rate: measured now, or the one that was kept."""
    if is_wanted:
        rate = bandwidth_run.measure_and_keep(RealHost(), machine)
        return bandwidth.with_host(machine, rate)
    return bandwidth_run.with_kept(machine)


def _check_empty(folder: Path) -> None:
    """Refuse a folder with other files in it: they would be taken for parts of the recording."""
    try:
        is_taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise CommandError(UNREADABLE, f"{folder}: {error.strerror}.") from error
    if is_taken:
        raise CommandError(BAD_USAGE, f"{folder} is not empty: name a new folder for --record.")


def _save(recorder: RecordingHost, folder: Path) -> None:
    try:
        recorder.save(folder)
    except OSError as error:
        raise UserError(
            "The recording could not be written",
            f"{error.filename or folder}: {error.strerror}",
            "Name a folder that you may write to",
        ) from error
