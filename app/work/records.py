"""Keeps measured runs in the notebook and reads it, both away from the window."""

from PySide6.QtCore import QObject, Signal, Slot

from app.core.errors import UserError
from app.work.jobs import Jobs
from app.work.notebook import Entry, Notebook, Pages


class Records(QObject):
    """The notebook as the window sees it."""

    changed = Signal(object)  # Pages
    failed = Signal(object)  # a UserError

    def __init__(
        self, jobs: Jobs, notebook: Notebook | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._notebook = notebook or Notebook()

    def read(self) -> None:
        """Read all runs; changed brings them."""
        self._start(None)

    def keep(self, entry: Entry) -> None:
        """Append a run and read again."""
        self._start(entry)

    def _start(self, entry: Entry | None) -> None:
        notebook = self._notebook

        def work(_cancel: object, _progress: object) -> Pages:
            if entry is not None:
                notebook.append(entry)
            return notebook.read()

        job = self._jobs.start(work, name="notebook")
        job.done.connect(self.changed)
        job.failed.connect(self._on_failed)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, UserError):
            error = UserError(
                "The run could not be kept in the notebook",
                f"{self._notebook.path}: {error}",
                "The rates are still shown; free some space or check the folder's rights.",
            )
        self.failed.emit(error)
