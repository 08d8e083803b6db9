"""The one mutable object: the evidence so far, shared by all tabs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.core.bench import BenchRun
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.log import LogSummary
from app.core.machine import Machine
from app.core.model import Model
from app.core.parts import Part
from app.core.proof import Proof
from app.core.request import LoadRequest
from app.core.rule import Diagnosis
from app.core.said import Said
from app.gguf.sniff import FileKind
from app.work import readers
from app.work.jobs import Job, Jobs, Latest
from app.work.process import Processes
from app.work.readers import ReadResult
from app.work.settings import LAST_FOLDER, LLAMA_FOLDER, Setting, Settings

if TYPE_CHECKING:
    from app.work.log_file import LogFile
    from app.work.watch import Watched


class Session(QObject):
    """Holds the evidence and says when it changed; everything shown is a function of it."""

    evidence_changed = Signal()
    diagnosis_changed = Signal()
    opened = Signal(str)  # the FileKind's value of a file that was read; one per kind
    reading_started = Signal(object)  # a Job that reads files, to show and to cancel
    log_found = Signal()  # one of these files is a log: log_file has it, its reading goes on
    log_file_changed = Signal()  # log_file is another one, or none
    llama_folder_changed = Signal(str)
    message = Signal(str)  # a sentence for the status line
    error = Signal(object)  # a UserError
    _found = Signal(int, object)  # from the reading's thread

    def __init__(
        self, jobs: Jobs, settings: Settings | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self.processes = Processes(self)
        self.settings = settings or Settings()
        self._evidence = self._told = Evidence()  # told: when evidence_changed was last emitted
        self._diagnosis: Diagnosis | None = None
        self._own: Evidence | None = None  # set aside while another person's evidence is shown
        self._read_only_path = ""
        self._log_path = ""
        self._own_log_path = ""
        self._log_file: LogFile | None = None
        self._told_log_file: LogFile | None = None
        self._reading = Latest(jobs)
        self._reading_number = 0
        self._reading_job: Job | None = None
        self._found.connect(self._on_log_found, Qt.ConnectionType.QueuedConnection)

    @property
    def evidence(self) -> Evidence:
        """Return what was seen so far."""
        return self._evidence

    @property
    def diagnosis(self) -> Diagnosis:
        """Return the judge's answer about the evidence."""
        if self._diagnosis is None:
            from app.rules import judge  # the rules are loaded when they are first needed

            self._diagnosis = judge.diagnose(self._evidence)
        return self._diagnosis

    @property
    def proof(self) -> Proof | None:
        """Return what the second run of the evidence proves, None when there was none."""
        if self._evidence.again is None:
            return None
        from app.rules import verify

        return verify.proof_of(self._evidence, self.diagnosis)

    @property
    def read_only_path(self) -> str:
        """Return the evidence file that is shown, "" while this computer's own is."""
        return self._read_only_path

    @property
    def log_path(self) -> str:
        """Return the file of the evidence's log, "" when there is none on this computer."""
        return self._log_path

    @property
    def log_file(self) -> LogFile | None:
        """Return the log to show; while it is read for the first time log_path is another's."""
        return self._log_file

    @property
    def reading_job(self) -> Job | None:
        """Return the job that reads files now, None when there is none."""
        job = self._reading_job
        return job if job is not None and not job.is_finished else None

    def set_evidence(self, evidence: Evidence, *, log_path: str = "") -> None:
        """Replace all parts at once, for example after a guided run."""
        self._leave_read_only()
        self._set_log_path(log_path)
        self._apply(evidence)

    def set_model(self, model: Model | None) -> None:
        """Choose the model; what was measured with another one is let go."""
        self._leave_read_only()
        self._apply(self._with_model(model))

    def set_machine(self, machine: Machine | None) -> None:
        """Keep what the probes found; another person's evidence keeps its own machine."""
        if self._own is not None:
            self._own = replace(self._own, machine=machine)
            return
        self._apply(replace(self._evidence, machine=machine))

    def set_log(self, log: LogSummary | None, *, path: str = "") -> None:
        """Keep a scanned log and where it is."""
        self._leave_read_only()
        self._set_log_path(path)
        self._apply(replace(self._evidence, log=log, outcome=None, again=None))

    def remove(self, part: Part) -> None:
        """Take a part out of the case; what was measured goes with its model."""
        self._leave_read_only()
        self._reading.cancel()  # or what is still read would come back
        self._reading_number += 1
        before = self._evidence
        if part is Part.LOG:
            self.set_log(None)
        elif part is Part.MODEL:
            self._apply(Evidence(machine=before.machine, log=before.log, symptom=before.symptom))
        else:
            self._apply(
                replace(before, runs=(), watch=None, gpu_watch=None, track=None, again=None)
            )

    def update_log(self, file: LogFile, log: LogSummary) -> None:
        """Keep what a log says now that it has grown; nothing when another one is shown."""
        if file is self._log_file and str(file.path) == self._log_path:
            self._apply(replace(self._evidence, log=log))

    def set_request(self, request: LoadRequest | None) -> None:
        """Keep what is to be asked of the runtime."""
        self._leave_read_only()
        self._apply(replace(self._evidence, request=request))

    def set_said(self, said: Said) -> None:
        """Keep llama.cpp's own word on a load."""
        self._leave_read_only()
        self._apply(replace(self._evidence, said=said))

    def add_runs(self, runs: Sequence[BenchRun], watched: Watched | None = None) -> None:
        """Add measured rates, and what the computer did meanwhile."""
        self._leave_read_only()
        added = replace(self._evidence, runs=(*self._evidence.runs, *runs))
        if watched is not None:
            added = replace(added, watch=watched.memory, gpu_watch=watched.gpu, track=watched.track)
        self._apply(added)

    def stop_all_and_wait(self) -> bool:
        """Stop all programs and jobs before the window closes; False when one was left."""
        programs_ended = self.processes.stop_all_and_wait()
        return self.jobs.stop_all_and_wait() and programs_ended

    def return_to_own(self) -> None:
        """Leave another person's evidence and show this computer's again."""
        if self._own is not None:
            own = self._own
            self._leave_read_only()
            self._apply(own)

    def open_paths(self, paths: Sequence[str]) -> Job | None:
        """Read files by what they hold; the parts arrive together. None when there are none."""
        files = [str(path) for path in paths if str(path)]
        if not files:
            return None
        self._reading_number += 1
        number = self._reading_number
        job = self._reading.start(
            lambda cancel, progress: readers.read_files(
                files, cancel, progress, lambda file: self._found.emit(number, file)
            ),
            name="reading",
        )
        self._reading_job = job
        job.done.connect(self._on_files_read)
        job.failed.connect(self._on_reading_failed)
        self.reading_started.emit(job)
        return job

    @property
    def llama_folder(self) -> str:
        """Return the folder with llama.cpp's programs that the user chose, "" = none."""
        return self.settings.get(LLAMA_FOLDER)

    def set_llama_folder(self, folder: str) -> None:
        """Remember the folder with llama.cpp's programs."""
        if folder == self.llama_folder:
            return
        self._remember(LLAMA_FOLDER, folder)
        self.llama_folder_changed.emit(folder)

    @property
    def folder(self) -> Path:
        """Return the folder to begin in when a file is asked for: the last one, or the user's."""
        last = Path(self.settings.get(LAST_FOLDER) or Path.home())
        return last if last.is_dir() else Path.home()

    def set_folder(self, folder: Path) -> None:
        """Remember the folder of a file that was opened or written."""
        if folder != self.folder:
            self._remember(LAST_FOLDER, str(folder))

    def _remember(self, setting: Setting[str], folder: str) -> None:
        try:
            self.settings.set(setting, folder)
        except OSError as error:
            self.error.emit(
                UserError(
                    "The folder could not be remembered",
                    f"{self.settings.path}: {error.strerror or error}",
                    "It holds until the program ends.",
                )
            )

    @Slot(int, object)
    def _on_log_found(self, number: int, file: LogFile) -> None:
        if number == self._reading_number:
            self._log_file = file
            self._tell_log_file()
            self.log_found.emit()

    @Slot(object)
    def _on_files_read(self, result: ReadResult) -> None:
        for error in result.errors:
            self.error.emit(error)
        if not result.opened:
            return
        self._take(result)
        for kind in dict.fromkeys(entry.kind for entry in result.opened):
            self.opened.emit(kind.value)
        names = ", ".join(entry.path.name for entry in result.opened)
        self.message.emit(f"Opened {names}")

    @Slot(object)
    def _on_reading_failed(self, error: Exception) -> None:
        if isinstance(error, UserError):
            self.error.emit(error)
            return
        self.error.emit(
            UserError(
                "The file could not be read because of a fault in this program",
                f"{type(error).__name__}: {error}",
                "Report it with the file's first megabyte, if you may share it.",
            )
        )

    def _take(self, result: ReadResult) -> None:
        foreign = next((e for e in result.opened if e.kind is FileKind.EVIDENCE), None)
        log = next((e for e in reversed(result.opened) if e.kind is FileKind.LOG), None)
        model = next((e.part for e in reversed(result.opened) if isinstance(e.part, Model)), None)
        if foreign is not None:
            if self._own is None:
                self._own, self._own_log_path = self._evidence, self._log_path
            self._read_only_path = str(foreign.path)
            self._set_log_path(str(log.path) if log else "", log.file if log else None)
            self._apply(result.onto(self._evidence))
            return
        self._leave_read_only()
        if log is not None:
            self._set_log_path(str(log.path), log.file)
        base = self._with_model(model) if model is not None else self._evidence
        self._apply(result.onto(base))

    def _with_model(self, model: Model | None) -> Evidence:
        before = self._evidence.model
        if before is None or (model is not None and model.path == before.path):
            return replace(self._evidence, model=model)
        self._set_log_path("")
        return Evidence(model=model, machine=self._evidence.machine, symptom=self._evidence.symptom)

    def _leave_read_only(self) -> None:
        """Go back to this computer's own evidence before a part of it changes."""
        if self._own is not None:
            self._evidence = self._own
            self._own, self._read_only_path = None, ""
            self._set_log_path(self._own_log_path)

    def _set_log_path(self, path: str, file: LogFile | None = None) -> None:
        """Name the file of the evidence's log; _apply tells of it."""
        self._log_path = path
        self._log_file = file if file is not None or not path else _open_log(path)

    def _apply(self, evidence: Evidence) -> None:
        self._evidence = evidence
        if evidence != self._told:
            self._told = evidence
            self._diagnosis = None
            self.evidence_changed.emit()
            self.diagnosis_changed.emit()
        self._tell_log_file()

    def _tell_log_file(self) -> None:
        before = self._told_log_file
        if self._log_file is before:
            return
        self._told_log_file = self._log_file
        self.log_file_changed.emit()
        if before is not None:
            before.close()


def _open_log(path: str) -> LogFile | None:
    """Open a log that was scanned before; None when it is not there any more."""
    from app.work.log_file import LogFile  # numpy is loaded only when there is a log

    try:
        return LogFile(Path(path))
    except UserError:
        return None
