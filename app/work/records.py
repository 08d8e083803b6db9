"""Keeps measured runs in the notebook and reads it, both away from the window."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.core.errors import UserError
from app.work.jobs import Job, Jobs
from app.work.notebook import Entry, Notebook, Pages
from app.work.notebook_table import as_csv


class Records(QObject):
    """The notebook as the window sees it."""

    changed = Signal(object)  # Pages
    failed = Signal(object)  # a UserError
    exported = Signal(object)  # the Path that was written

    def __init__(
        self, jobs: Jobs, notebook: Notebook | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._notebook = notebook or Notebook()

    def read(self) -> None:
        """Read all runs; changed brings them."""
        self._start()

    def keep(self, entry: Entry) -> None:
        """Append a run and read again."""
        self._start(lambda notebook: notebook.append(entry))

    def delete(self, run_ids: tuple[str, ...]) -> None:
        """Leave runs out from now on, and read again."""
        self._start(lambda notebook: notebook.delete(run_ids))

    def restore(self, run_ids: tuple[str, ...]) -> None:
        """Take deleted runs in again, and read again."""
        self._start(lambda notebook: notebook.restore(run_ids))

    def export(self, entries: tuple[Entry, ...], path: Path) -> None:
        """Write runs as a table, and read again; exported tells that it is written."""
        job = self._start(
            lambda _notebook: path.write_text(as_csv(entries), encoding="utf-8", newline="")
        )
        job.done.connect(lambda _pages: self.exported.emit(path))

    def _start(self, change: Callable[[Notebook], object] = lambda _notebook: None) -> Job:
        notebook = self._notebook

        def work(_cancel: object, _progress: object) -> Pages:
            change(notebook)
            return notebook.read()

        job = self._jobs.start(work, name="notebook")
        job.done.connect(self.changed)
        job.failed.connect(self._on_failed)
        return job

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, UserError):
            error = UserError(
                "The notebook or its table could not be written",
                f"{getattr(error, 'filename', None) or self._notebook.path}: {error}",
                "The rates are still shown; free some space or check the folder's rights.",
            )
        self.failed.emit(error)
