"""Looks at this computer in the background and hands the session what it found."""

from PySide6.QtCore import QObject, Signal, Slot

from app.core.host import Host
from app.probes.host import RealHost
from app.work.jobs import Job, Latest
from app.work.kept_facts import with_kept
from app.work.machine_reader import read_machine
from app.work.session import Session


class Detection(QObject):
    """Runs the probes; a newer request cancels the older."""

    started = Signal()
    finished = Signal()
    progress = Signal(int, str)  # 0 to 100, and what is being asked

    def __init__(
        self, session: Session, parent: QObject | None = None, *, host: Host | None = None
    ) -> None:
        """Look at this computer; host is another one to ask, for example a recorded one."""
        super().__init__(parent or session)
        self._session = session
        self._host = host or RealHost()
        self._latest = Latest(session.jobs)
        self._running = 0
        session.llama_folder_changed.connect(self.start)

    @property
    def is_running(self) -> bool:
        """Tell whether the probes are still asking."""
        return self._running > 0

    @Slot()
    def start(self) -> Job:
        """Look again; the session changes when the answer is there."""
        folder = self._session.llama_folder
        folders = (folder,) if folder else ()
        job = self._latest.start(
            lambda cancel, progress: with_kept(read_machine(self._host, folders, cancel, progress)),
            name="hardware detection",
        )
        self._running += 1
        job.progress.connect(self.progress)
        job.done.connect(self._session.set_machine)
        job.finished.connect(self._on_finished)
        self.started.emit()
        return job

    def cancel(self) -> None:
        """Stop looking; what was known before stays."""
        self._latest.cancel()

    @Slot()
    def _on_finished(self) -> None:
        self._running -= 1
        if not self._running:
            self.finished.emit()
