"""Diagnose, the start page: drop a file, run the named steps, read the verdict."""

from dataclasses import replace

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.folklore import folklore
from app.core.forecast import forecast
from app.core.practice import Lesson
from app.core.proof import why_not
from app.core.reading import Estimate
from app.core.request import LoadRequest
from app.core.rule import Finding
from app.ui import choose, theme
from app.ui.models import diagnosis_model, offload_model, ranking_model
from app.ui.models.ranking_model import RankingView
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.case_line import CaseLine
from app.ui.widgets.drop_zone import DropZone
from app.ui.widgets.models_card import ModelsCard
from app.ui.widgets.page import Page
from app.ui.widgets.practice_card import PracticeCard
from app.ui.widgets.result_panel import ResultPanel
from app.ui.widgets.run_options import RunOptions
from app.ui.widgets.step_list import StepList
from app.work import plans
from app.work.detection import Detection
from app.work.diagnose_run import DiagnoseResult
from app.work.jobs import Latest
from app.work.model_finder import ModelFinder
from app.work.observe_run import ObservePlan, ObserveRun
from app.work.prove_run import ProveRun
from app.work.ratio_run import RatioResult, RatioRun
from app.work.record import entry_of_bench, entry_of_diagnosis, entry_of_second_run
from app.work.records import Records
from app.work.session import Session
from app.work.typed_ratio import typed_ratio


class DiagnoseTab(Page):
    """Starts the guided run; shows the diagnosis of whatever evidence the session holds."""

    def __init__(
        self, session: Session, detection: Detection, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Why is it slow?"), parent)
        self._session = session
        self._detection = detection
        self._records = Records(session.jobs, parent=self)
        self._run = ProveRun(session.jobs, session.processes, self)
        self._ranking = Latest(session.jobs)
        self._observe = ObserveRun(session.jobs, session.processes, self)
        self._ends = RatioRun(session.jobs, session.processes, self)
        self._finder = ModelFinder(session, self)
        self._model_path = ""
        self._ranked: RankingView | None = None
        self.setObjectName("diagnoseTab")
        self._make_body()
        self._connect()
        self._on_evidence_changed()
        self.set_filled()

    @property
    def is_running(self) -> bool:
        """Tell whether a guided run is under way."""
        return any(run.is_running for run in (self._run, self._ends, self._observe))

    def stop(self) -> None:
        """Cancel the guided run and the search for models."""
        self._run.cancel()
        self._ends.cancel()
        self._observe.cancel()
        self._finder.stop()

    def start_run(self) -> None:
        """Start the guided run on the session's model."""
        evidence = self._session.evidence
        if evidence.model is None or self.is_running:
            return
        self._practice.forget()
        self._start_plan(self._options.request)

    def _start_plan(self, request: LoadRequest) -> None:
        self._result.hide()
        self._steps.clear()
        self._steps.show()
        self._run.start(plans.to_diagnose(self._session, request, self._options.symptom))
        self._show_state()

    def practise(self, lesson: Lesson) -> None:
        """Make a fault on purpose, and diagnose it."""
        if self.is_running:
            return
        self._practice.remember(lesson)
        self._start_plan(lesson.request)

    def prove(self) -> None:
        """Load and measure again with the verdict's one change."""
        finding = self._session.diagnosis.verdict
        if finding is not None and not why_not(self._session.evidence, finding):
            self._prove(finding)

    def try_change(self, option_id: str) -> None:
        """Load and measure again with a ranked change."""
        from app.rules import tried  # the rules are loaded when they are first needed

        options = self._ranked.options if self._ranked is not None else ()
        option = next((one for one in options if one.id == option_id), None)
        if option is not None and option.change:
            self._prove(tried.finding(self._session.evidence, option), option_id)

    def _prove(self, finding: Finding, option_id: str = "") -> None:
        if self.is_running:
            return
        self._practice.forget()
        self._steps.clear()
        self._steps.show()
        self.scroll_to(self._steps)
        self._run.prove(plans.to_prove(self._session, finding, option_id))
        self._show_state()

    def watch_running(self) -> None:
        """Watch the program that holds a model, while the user's own request runs."""
        if self.is_running:
            return
        self._result.hide()
        self._steps.clear()
        self._steps.show()
        self._observe.start(
            ObservePlan(plans.folders(self._session), symptom=self._options.symptom)
        )
        self._show_state()

    def measure_ends(self) -> None:
        """Measure with nothing and with everything on the device, as short as the last run."""
        bench = plans.bench_of(self._session)
        if self._session.evidence.model is None or bench is None or self.is_running:
            return
        self._steps.clear()
        self._steps.show()
        self.scroll_to(self._steps)
        self._ends.start(plans.to_measure_ends(self._session, bench))
        self._show_state()

    def _on_ends(self, result: RatioResult) -> None:
        evidence = self._session.evidence
        for end in (result.host, result.device):
            self._records.keep(entry_of_bench(end, evidence.machine))
        history = (*evidence.history, *result.runs)
        self._session.set_evidence(
            replace(evidence, history=history), log_path=self._session.log_path
        )
        self._steps.finish(self.tr("Done. The programs that were started have ended."))
        self.scroll_to(self._result.prediction)

    def _on_done(self, result: DiagnoseResult | Evidence) -> None:
        if isinstance(result, Evidence):  # of a second run
            self._session.set_evidence(result, log_path=self._session.log_path)
            entry = entry_of_second_run(result)
        else:
            self._session.set_evidence(result.evidence, log_path=result.log_path)
            entry = entry_of_diagnosis(result.evidence)
        if entry is not None:
            self._records.keep(entry)
        self._practice.judge(self._session.evidence, self._session.diagnosis)
        self._steps.finish(self.tr("Done. The programs that were started have ended."))
        self.scroll_to(self._result.proof if isinstance(result, Evidence) else self._result)

    def _on_failed(self, error: Exception) -> None:
        text = error.sentence() if isinstance(error, UserError) else str(error)
        self._steps.finish(text)
        if isinstance(error, UserError):
            self._session.error.emit(error)

    def _on_cancelled(self) -> None:
        self._steps.finish(self.tr("Cancelled. The programs that were started have ended."))

    def _on_evidence_changed(self) -> None:
        evidence = self._session.evidence
        model = evidence.model
        path = model.path if model is not None else ""
        if path != self._model_path:
            self._model_path = path
            if not self.is_running:
                self._steps.hide()  # they were of another model
        devices = evidence.machine.devices if evidence.machine is not None else ()
        self._options.show_devices(tuple(device.id for device in devices))
        self._zone.show_file(*diagnosis_model.zone_texts(evidence))
        self._machine.setText(diagnosis_model.machine_text(evidence.machine))
        source = self._session.read_only_path
        self.set_notice(
            self.tr("This is the evidence in {}, not of this computer.").format(source)
            if source
            else ""
        )
        if diagnosis_model.has_something_to_judge(evidence):
            self._result.show_view(
                diagnosis_model.diagnosis_view(
                    evidence,
                    self._session.diagnosis,
                    forecast(evidence, self._typed_r()),
                    self._session.proof,
                    is_own=not source,
                )
            )
            self._result.show()
            self._rank()
        else:
            self._result.hide()
        self._show_state()

    def _rank(self) -> None:
        """Calculate what would help, away from the window."""
        evidence = self._session.evidence
        self._on_ranked(None)
        if evidence.model is not None:
            r, is_own = self._typed_r(), not self._session.read_only_path
            job = self._ranking.start(
                lambda _cancel, _progress: _ranked(evidence, r, is_own=is_own), name="ranking"
            )
            job.done.connect(self._on_ranked)

    def _on_ranked(self, view: RankingView | None) -> None:
        self._ranked = view
        self._result.show_ranking(view)

    def _typed_r(self) -> Estimate | None:
        """Return r of the settings, which is of this computer only."""
        is_own = not self._session.read_only_path
        return typed_ratio(self._session.settings) if is_own else None

    def _show_state(self) -> None:
        evidence = self._session.evidence
        is_own = not self._session.read_only_path
        has_model = evidence.model is not None
        self._start.setEnabled(has_model and is_own and not self.is_running)
        self._result.show_running(is_running=self.is_running)
        self._result.prediction.set_running(
            is_running=self.is_running,
            can_measure=is_own and plans.bench_of(self._session) is not None,
        )
        runtimes = evidence.machine.runtimes if evidence.machine is not None else ()
        self._watch.setVisible(is_own and any(r.is_running and r.loaded for r in runtimes))
        self._watch.setEnabled(not self.is_running)
        self._practice.setVisible(has_model and is_own)
        self._practice.show_evidence(evidence, self._options.request, can_start=not self.is_running)
        self._cancel.setVisible(self.is_running)
        self._return.setVisible(not is_own)
        self._options.setEnabled(not self.is_running)
        self._case.show_evidence(evidence, can_remove=not self.is_running, is_own=is_own)
        has_server = offload_model.llama_server(evidence.machine) is not None
        self._folder.setVisible(evidence.machine is not None and not has_server)
        self._hint.setText(self._next_step(has_model=has_model, has_server=has_server))

    def _next_step(self, *, has_model: bool, has_server: bool) -> str:
        if self._session.evidence.machine is None:
            return self.tr("Looking at this computer…")
        if not has_server:
            return self.tr(
                "No llama-server was found here. The header is still read and checked; to load "
                "and measure, choose the folder of llama.cpp's programs."
            )
        if not has_model:
            return self.tr("Drop a model to load and measure it, or a log to read it.")
        return self.tr(
            "Loads the model with your llama.cpp, reads where its bytes went, measures both "
            "rates, and stops everything it started."
        )

    def _on_folder(self) -> None:
        title = self.tr("Folder with llama-server and llama-bench")
        if folder := choose.folder(self, title, self._session.llama_folder):
            self._session.set_llama_folder(folder)

    def _connect(self) -> None:
        for run in (self._run, self._ends, self._observe):
            self._steps.follow(run)
            run.failed.connect(self._on_failed)
            run.cancelled.connect(self._on_cancelled)
            run.finished.connect(self._show_state)
        self._run.done.connect(self._on_done)
        self._ends.done.connect(self._on_ends)
        self._practice.lesson_wanted.connect(self.practise)
        self._observe.done.connect(self._on_done)
        self._records.failed.connect(self._session.error)
        self._start.clicked.connect(self.start_run)
        self._watch.clicked.connect(self.watch_running)
        self._cancel.clicked.connect(self.stop)
        self._folder.clicked.connect(self._on_folder)
        self._return.clicked.connect(self._session.return_to_own)
        self._case.remove_wanted.connect(self._session.remove)
        self._zone.choose_wanted.connect(self.open_wanted)
        self._zone.link_clicked.connect(self.tab_wanted)
        self._result.line_wanted.connect(self.line_wanted)
        self._result.prove_wanted.connect(self.prove)
        self._result.try_wanted.connect(self.try_change)
        self._result.prediction.ends_wanted.connect(self.measure_ends)
        self._session.evidence_changed.connect(self._on_evidence_changed)
        self._detection.finished.connect(self._show_state)
        # the verdicts need the devices, so the search waits for them
        self._detection.finished.connect(self._finder.start)
        self._finder.found.connect(self._found.show_found)
        self._finder.judged.connect(self._found.show_verdict)
        self._found.chosen.connect(lambda path: self._session.open_paths([path]))

    def _make_body(self) -> None:
        self._zone = DropZone()
        self.body.addWidget(self._zone)
        self._case = CaseLine()
        self.body.addWidget(self._case)
        card = Card()
        self._machine = QLabel()
        self._machine.setObjectName("machineLine")
        self._machine.setWordWrap(True)
        card.body.addWidget(self._machine)
        self._options = RunOptions()
        card.body.addWidget(self._options)
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        self._start = QPushButton(self.tr("Diagnose"))
        self._start.setObjectName("startDiagnose")
        self._start.setProperty("primary", True)
        self._watch = QPushButton(self.tr("Watch what runs"))
        self._watch.setObjectName("watchRunning")
        self._watch.setToolTip(
            self.tr("Watches the program that holds a model now, while your own request runs.")
        )
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("cancelDiagnose")
        self._folder = QPushButton(self.tr("Choose folder…"))
        self._folder.setObjectName("diagnoseFolder")
        self._return = QPushButton(self.tr("Back to this computer"))
        self._return.setObjectName("returnToOwn")
        self._hint = dim_label()
        for button in (self._start, self._watch, self._cancel, self._folder, self._return):
            row.addWidget(button)
        row.addWidget(self._hint, 1)
        card.body.addLayout(row)
        self.body.addWidget(card)
        self._steps = StepList()
        self._steps.hide()
        self.body.addWidget(self._steps)
        self._result = ResultPanel()
        self._result.hide()
        self.body.addWidget(self._result)
        self._practice = PracticeCard(self._session.jobs)
        self.body.addWidget(self._practice)
        self._found = ModelsCard()
        self.body.addWidget(self._found)
        self.body.addStretch(1)


def _ranked(evidence: Evidence, r: Estimate | None, *, is_own: bool) -> RankingView | None:
    from app.rules import ranked  # the rules are loaded when they are first needed

    found = forecast(evidence, r)
    if found.placement is None:
        return None
    return ranking_model.ranking_view(
        evidence, ranked.ranking(evidence, found), folklore(evidence, found), is_own=is_own
    )
