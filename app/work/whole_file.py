"""Writes a small file at once and whole, or not at all; sets a broken one aside."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from app.core.errors import UserError


def write(path: Path, data: bytes) -> None:
    """Put a file in the place of the former one; OSError leaves that as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def write_report(path: Path, data: bytes) -> None:
    """Put a report where the user chose; UserError when it cannot be written, the old one stays."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError as error:
        # where the folder is no folder, there is nothing to take away either
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise UserError(
            "The report could not be written",
            f"{path}: {error.strerror or error}",
            "Choose another folder",
        ) from error


def set_aside(path: Path) -> None:
    """Rename a file that cannot be read, so that nothing in it is lost; OSError when it stays."""
    path.replace(path.with_name(f"{path.name}.broken"))
