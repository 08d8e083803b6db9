"""A stand-in for a model file that is not whole: its header, and a hole of the right size."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app import paths
from app.core.errors import UserError
from app.core.model import Fault, Model

_BLOCK = 1 << 20
_STALE_S = 3600.0  # a copy this old was left by a program that was killed


def needs_copy(model: Model) -> bool:
    """Tell whether llama.cpp would refuse the file itself because it is cut."""
    return any(problem.fault is Fault.TRUNCATED_DATA for problem in model.problems)


def whole_bytes(model: Model) -> int:
    """Return the size that the only part has when it is whole."""
    part = model.parts[0]
    ends = (tensor.offset + tensor.n_bytes for tensor in model.tensors)
    data = -(-max(ends, default=0) // part.alignment) * part.alignment
    return part.data_offset + data


@contextmanager
def readable(model: Model) -> Iterator[str]:
    """Give the path of a file that llama.cpp reads the header of; a copy is deleted afterwards.

    The copy is sparse: it has the nominal size and takes the header's bytes on the disk.
    UserError when the model cannot be stood in for.
    """
    if not needs_copy(model):
        yield model.path
        return
    if len(model.parts) != 1:
        raise UserError(
            "llama.cpp cannot be asked about this model",
            "It is split over several files, and one of them is cut.",
            "Complete the download.",
        )
    folder = paths.user_cache() / "headers"
    copy = folder / f"{secrets.token_hex(8)}.gguf"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        _copy(Path(model.path), copy, model.parts[0].data_offset, whole_bytes(model))
    except OSError as error:
        copy.unlink(missing_ok=True)
        raise UserError(
            "llama.cpp cannot be asked about this file",
            f"A copy of its header could not be written to {folder}: {error.strerror or error}.",
        ) from error
    try:
        yield str(copy)
    finally:
        copy.unlink(missing_ok=True)


def _copy(source: Path, target: Path, header_bytes: int, whole: int) -> None:
    with source.open("rb") as reader, target.open("wb") as writer:
        left = header_bytes
        while left > 0 and (data := reader.read(min(_BLOCK, left))):
            writer.write(data)
            left -= len(data)
        if os.name == "nt":
            _make_sparse(writer.fileno())
        writer.truncate(whole)


def _sweep(folder: Path) -> None:
    for path in folder.glob("*.gguf"):
        if time.time() - path.stat().st_mtime > _STALE_S:
            path.unlink(missing_ok=True)


def _make_sparse(handle: int) -> None:
    """Tell NTFS that the rest is a hole; without it the size would be taken on the disk."""
    import ctypes
    import msvcrt

    set_sparse = 0x000900C4  # FSCTL_SET_SPARSE (winioctl.h)
    n_returned = ctypes.c_ulong()
    ctypes.windll.kernel32.DeviceIoControl(  # type: ignore[attr-defined]  # Windows only
        msvcrt.get_osfhandle(handle), set_sparse, None, 0, None, 0,  # type: ignore[attr-defined]
        ctypes.byref(n_returned), None,
    )  # fmt: skip
