"""The one mutable object: the evidence so far, shared by all tabs."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from app.core.bench import BenchRun
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.log import LogSummary
from app.core.machine import Machine
from app.core.model import Model
from app.core.request import LoadRequest
from app.core.rule import Diagnosis
from app.gguf.sniff import FileKind
from app.work import readers
from app.work.jobs import Job, Jobs, Latest
from app.work.process import Processes
from app.work.readers import ReadResult
from app.work.settings import LLAMA_FOLDER, Settings


class Session(QObject):
    """Holds the evidence and says when it changed; everything shown is a function of it."""

    evidence_changed = Signal()
    diagnosis_changed = Signal()
    opened = Signal(str)  # the FileKind's value of a file that was read; one per kind
    reading_started = Signal(object)  # a Job that reads files, to show and to cancel
    llama_folder_changed = Signal(str)
    message = Signal(str)  # a sentence for the status line
    error = Signal(object)  # a UserError

    def __init__(
        self, jobs: Jobs, settings: Settings | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self.processes = Processes(self)
        self.settings = settings or Settings()
        self._evidence = Evidence()
        self._diagnosis: Diagnosis | None = None
        self._own: Evidence | None = None  # set aside while another person's evidence is shown
        self._read_only_path = ""
        self._log_path = ""
        self._reading = Latest(jobs)

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
    def read_only_path(self) -> str:
        """Return the evidence file that is shown, "" while this computer's own is."""
        return self._read_only_path

    @property
    def log_path(self) -> str:
        """Return the file of the evidence's log, "" when there is none on this computer."""
        return self._log_path

    def set_evidence(self, evidence: Evidence, *, log_path: str = "") -> None:
        """Replace all parts at once, for example after a guided run."""
        self._leave_read_only()
        self._log_path = log_path
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
        self._log_path = path
        self._apply(replace(self._evidence, log=log, outcome=None))

    def set_request(self, request: LoadRequest | None) -> None:
        """Keep what is to be asked of the runtime."""
        self._leave_read_only()
        self._apply(replace(self._evidence, request=request))

    def set_symptom(self, symptom: str) -> None:
        """Keep what the user sees, "" = not said."""
        self._apply(replace(self._evidence, symptom=symptom))

    def add_runs(self, runs: Sequence[BenchRun]) -> None:
        """Add measured rates."""
        self._leave_read_only()
        self._apply(replace(self._evidence, runs=(*self._evidence.runs, *runs)))

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
        job = self._reading.start(
            lambda cancel, progress: readers.read_files(files, cancel, progress), name="reading"
        )
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
        try:
            self.settings.set(LLAMA_FOLDER, folder)
        except OSError as error:
            self.error.emit(
                UserError(
                    "The folder could not be remembered",
                    f"{self.settings.path}: {error.strerror or error}",
                    "It holds until the program ends.",
                )
            )
        self.llama_folder_changed.emit(folder)

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
            own = self._evidence if self._own is None else self._own
            self._own, self._read_only_path = own, str(foreign.path)
            self._log_path = str(log.path) if log else ""
            self._apply(result.onto(self._evidence))
            return
        self._leave_read_only()
        if log is not None:
            self._log_path = str(log.path)
        base = self._with_model(model) if model is not None else self._evidence
        self._apply(result.onto(base))

    def _with_model(self, model: Model | None) -> Evidence:
        before = self._evidence.model
        if before is None or (model is not None and model.path == before.path):
            return replace(self._evidence, model=model)
        self._log_path = ""
        return Evidence(model=model, machine=self._evidence.machine, symptom=self._evidence.symptom)

    def _leave_read_only(self) -> None:
        """Go back to this computer's own evidence before a part of it changes."""
        if self._own is not None:
            self._evidence = self._own
            self._own, self._read_only_path, self._log_path = None, "", ""

    def _apply(self, evidence: Evidence) -> None:
        if evidence == self._evidence:
            return
        self._evidence = evidence
        self._diagnosis = None
        self.evidence_changed.emit()
        self.diagnosis_changed.emit()
