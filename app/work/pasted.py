"""Text pasted into the window, kept as a file for as long as it is shown."""

import tempfile
import time
from pathlib import Path

from app import paths
from app.core.errors import UserError

_PREFIX, _SUFFIX = "pasted-", ".log"
_KEEP_S = 24 * 3600  # of what a crash left behind


class Pasted:
    """Writes pasted text into the user's cache, and takes it away again."""

    def __init__(self) -> None:
        self._paths: list[Path] = []

    def keep(self, text: str) -> Path:
        """Write a text to a file of its own; meant to run in a Job."""
        folder = paths.user_cache()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _drop_old(folder)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", errors="replace", newline="",
                dir=folder, prefix=_PREFIX, suffix=_SUFFIX, delete=False,
            ) as file:  # fmt: skip
                self._paths.append(Path(file.name))
                file.write(text)
        except OSError as error:
            raise UserError(
                "The pasted text could not be kept",
                f"{folder}: {error.strerror or error}",
                "Save it to a file and drop that on the window.",
            ) from error
        return self._paths[-1]

    def drop_all(self) -> None:
        """Delete what was pasted."""
        for path in self._paths:
            path.unlink(missing_ok=True)
        self._paths.clear()


def _drop_old(folder: Path) -> None:
    now = time.time()
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        if now - path.stat().st_mtime > _KEEP_S:
            path.unlink(missing_ok=True)
