"""The command line: the same pipeline without a window.

A subcommand is a module here with `add_options(parser)` and `main(args) -> exit status`, and one
line in COMMANDS. It is imported only when it is asked for, so that `plan` never loads Qt.
"""

import argparse
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import NoReturn

from app import product
from app.core.errors import UserError

ANSWERED = 0  # also "nothing found"
FAILED = 1  # the work failed or was cancelled
BAD_USAGE = 2
UNREADABLE = 3  # a file cannot be read

COMMANDS: Mapping[str, str] = {
    "bench": "how fast a model is here: prompt and generation apart, with 95 % intervals",
    "diagnose": "what slows a model down or keeps it from loading, and the one change to make",
    "hardware": "what this computer has, each fact with its source, and what limits it",
    "log": "what a log says: where the bytes are, how fast it was, what went wrong",
    "plan": "where a model's bytes would lie, what fits, and how much slower that is",
    "practice": "how five faults look: made on purpose, predicted, run, and named",
    "report": "what saved evidence says, for support or an issue tracker",
    "self-test": "whether this program is complete: every tab, a model, a PDF",
}


_MEASURING = ("bench", "diagnose", "practice")  # they load Qt


class CommandError(Exception):
    """Ends a command: the exit status, and one sentence for stderr."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence

    @classmethod
    def of(cls, status: int, error: UserError) -> "CommandError":
        """Give a UserError an exit status."""
        return cls(status, error.sentence())


class _Parser(argparse.ArgumentParser):
    """Says in one sentence what is wrong with the options."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(
            BAD_USAGE, f"{message[:1].upper()}{message[1:]}. Try {self.prog} --help."
        )


def main(argv: Sequence[str]) -> int:
    """Run a subcommand and return the exit status; never a traceback for what a user gave."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a console that lacks a sign, a path that is no text: a ? instead of a traceback
            stream.reconfigure(errors="replace")
    try:
        status = _run(list(argv))
        if sys.stdout is not None:  # a Windows program without a console has none
            sys.stdout.flush()
    except CommandError as error:
        return _complain(error.status, error.sentence)
    except UserError as error:
        return _complain(FAILED, error.sentence())
    except BrokenPipeError:
        # whoever read our output has enough; what is still buffered must go nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ANSWERED
    except KeyboardInterrupt:
        return _complain(FAILED, "Stopped.")
    return status


def _run(argv: list[str]) -> int:
    parser = _Parser(prog=product.SLUG, description=product.SUMMARY, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"{product.NAME} {product.VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    wanted = next((word for word in argv if word in COMMANDS), None)
    with _stopping_at_once() if wanted in _MEASURING else nullcontext():
        return _parsed(parser, commands, argv, wanted)


def _parsed(
    parser: _Parser, commands: "argparse._SubParsersAction[_Parser]", argv: list[str],
    wanted: str | None,
) -> int:  # fmt: skip
    modules = {}
    for name, text in COMMANDS.items():
        summary = text.replace("%", "%%")  # argparse fills these texts in
        command = commands.add_parser(
            name, help=summary, description=f"Tell {text}.", allow_abbrev=False
        )
        if name == wanted:
            modules[name] = importlib.import_module(f"app.cli.{name.replace('-', '_')}")
            modules[name].add_options(command)
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as end:  # --help and --version print and end
        return end.code if isinstance(end.code, int) else ANSWERED
    status = modules[arguments.command].main(arguments)
    return status if isinstance(status, int) else FAILED


@contextmanager
def _stopping_at_once() -> Iterator[None]:
    """End at Ctrl+C without an exception: Qt's bindings swallow it or trip over it while they load.

    Nothing has been started then. While something runs, work.headless cancels it instead; what is
    left after that ends with us through its guard.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        _complain(FAILED, "Stopped.")
        sys.stderr.flush()
        os._exit(FAILED)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _complain(status: int, sentence: str) -> int:
    print(f"{product.SLUG}: {' '.join(sentence.split())}", file=sys.stderr)
    return status
