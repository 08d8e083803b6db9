"""Keeps measured runs in the notebook and reads it, both away from the window."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from PySide6.QtCore import QObject, Signal, Slot

from app.core import units
from app.core.bench import BenchRun
from app.core.errors import UserError
from app.core.evidence import MemoryWatch
from app.core.machine import Machine
from app.core.model import Model
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


def entry_of(
    runs: Sequence[BenchRun],
    model: Model,
    machine: Machine | None,
    *,
    watch: MemoryWatch | None,
    source: str = "benchmark",
) -> Entry:
    """Return the notebook's record of one run."""
    first = runs[0]
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Entry(
        run_id=first.run_id,
        time=first.started or now,
        model=model.name,
        # the program names the model by its own words; the notebook by its file
        runs=tuple(replace(run, model_name=model.name) for run in runs),
        build=first.build,
        machine=machine_words(machine),
        watch=watch,
        busy=first.busy,
        source=source,
    )


def machine_words(machine: Machine | None) -> tuple[str, ...]:
    """Return what of a machine decides a rate: processor, memory, devices."""
    if machine is None:
        return ()
    words = [machine.text("cpu.model") or ""]
    total = machine.number("memory.total")
    if total is not None:
        words.append(f"{units.gib(total)} system memory")
    words += [f"{device.id}: {device.description}" for device in machine.devices]
    return tuple(word for word in words if word)
