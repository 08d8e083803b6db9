"""What the subcommands that run programs share: an application, progress, and the notebook."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from app import product
from app.cli import FAILED, CommandError
from app.work.notebook import Entry, Notebook


@contextmanager
def application(*, draws: bool = False) -> Iterator[None]:
    """Give a Qt application to what runs inside; a cancelled run ends the command."""
    from app.work import headless
    from app.work.jobs import Cancelled

    kept = headless.application(draws=draws)
    try:
        yield
    except Cancelled as error:
        raise CommandError(FAILED, "Stopped.") from error
    finally:
        del kept


def say(text: str) -> None:
    """Tell what is being done."""
    print(text, file=sys.stderr, flush=True)


def keep(entry: Entry | None) -> None:
    """Put a run into the notebook; one that cannot be written does not take the answer away."""
    if entry is None:
        return
    notebook = Notebook()
    try:
        notebook.append(entry)
    except OSError as error:
        say(
            f"{product.SLUG}: the run could not be kept in {notebook.path}: "
            f"{error.strerror or error}."
        )
