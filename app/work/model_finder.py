"""Finds the models on this computer and says of each what fits, one after the other."""

import os
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from app.core import builds, fit_table
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
from app.work.settings import MODEL_FOLDERS, Settings

_MAX_FOLDERS = 10
CTX = 4096  # the context the verdicts are for, in tokens


def is_whole(model: FoundModel) -> bool:
    """Tell whether something can be said of a file by itself: not of projectors and parts."""
    return not model.is_projector and model.n_parts >= model.n_parts_expected


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
        folders = self.folders()
        job = self._search.start(
            lambda cancel, _progress: find_models(RealHost(), folders, cancel), name="models"
        )
        job.done.connect(self._on_found)

    def folders(self) -> tuple[str, ...]:
        """Return the folders that the user chose, to look into as well."""
        return tuple(f for f in Settings().get(MODEL_FOLDERS).split(os.pathsep) if f)

    @Slot(str)
    def add_folder(self, folder: str) -> None:
        """Look into one more folder from now on."""
        self._set_folders((*(f for f in self.folders() if f != folder), folder))

    @Slot(str)
    def remove_folder(self, folder: str) -> None:
        """Look into a folder no more."""
        self._set_folders(tuple(f for f in self.folders() if f != folder))

    def _set_folders(self, folders: tuple[str, ...]) -> None:
        try:
            Settings().set(MODEL_FOLDERS, os.pathsep.join(folders[-_MAX_FOLDERS:]))
        except OSError as error:
            title = "The folder could not be kept"
            self._session.error.emit(UserError(title, str(error.strerror)))
        self.start()

    def stop(self) -> None:
        """Stop searching and judging."""
        self._waiting = []
        self._search.cancel()
        self._judge.cancel()

    @Slot(object)
    def _on_found(self, found: Found) -> None:
        self.found.emit(found)
        self._waiting = [model for model in found.models if is_whole(model)]
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
        FitWish(
            quantisations=(),
            cache_types=("f16",),
            contexts=(CTX,),
            build=builds.of_machine(machine),
        ),
    )
    row = next(iter(rows), None)
    if row is None or not row.cells:
        raise UserError("Nothing could be calculated for this model")
    return row.cells[0]
