"""Finds the models on this computer and says of each what fits, one after the other."""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from app.core import fit_table
from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.fit_table import Cell, FitWish
from app.core.host_memory import host_of
from app.core.machine import FoundModel, Machine
from app.core.request import LoadRequest
from app.gguf.model import read_model
from app.probes.host import RealHost
from app.runtimes.models import Found, find_models
from app.work.jobs import Latest
from app.work.session import Session

CTX = 4096  # the context the verdicts are for, in tokens


class ModelFinder(QObject):
    """Emits the list, then a verdict for each entry; a newer search cancels the older."""

    found = Signal(object)  # Found
    judged = Signal(str, object)  # path, and a Cell or a UserError

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._search = Latest(session.jobs)
        self._judge = Latest(session.jobs)
        self._waiting: list[FoundModel] = []
        self._path = ""

    def start(self) -> None:
        """Search the folders where runtimes keep their models."""
        job = self._search.start(
            lambda cancel, _progress: find_models(RealHost(), (), cancel), name="models"
        )
        job.done.connect(self._on_found)

    def stop(self) -> None:
        """Stop searching and judging."""
        self._waiting = []
        self._search.cancel()
        self._judge.cancel()

    @Slot(object)
    def _on_found(self, found: Found) -> None:
        self.found.emit(found)
        self._waiting = list(found.models)
        self._next()

    def _next(self) -> None:
        if not self._waiting:
            return
        model, machine = self._waiting.pop(0), self._session.evidence.machine
        self._path = model.path
        job = self._judge.start(
            lambda cancel, _progress: verdict_of(model.path, machine, cancel), name="verdict"
        )
        job.done.connect(self._on_judged)
        job.failed.connect(self._on_judged)

    @Slot(object)
    def _on_judged(self, verdict: object) -> None:
        self.judged.emit(self._path, verdict)
        self._next()


def verdict_of(path: str, machine: Machine | None, cancel: Cancel) -> Cell:
    """Return what of a model fits on this computer with 4096 tokens; UserError when unreadable."""
    model = read_model(path, cancel)
    rows = fit_table.fit_rows(
        model,
        machine.devices if machine else (),
        host_of(machine),
        replace(LoadRequest()),
        FitWish(quantisations=(), cache_types=("f16",), contexts=(CTX,)),
    )
    row = next(iter(rows), None)
    if row is None or not row.cells:
        raise UserError("Nothing could be calculated for this model")
    return row.cells[0]
