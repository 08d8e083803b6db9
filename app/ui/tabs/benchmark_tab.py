"""Benchmark: measure both rates with llama-bench, keep every run, compare two by interval."""

from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QWidget,
)

from app.core.bench import Test
from app.core.errors import UserError
from app.ui import choose, icons, theme
from app.ui.models import bench_model, offload_model
from app.ui.models.bench_model import ENTRY_ROLE, RunModel
from app.ui.widgets.bench_controls import BenchControls
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.page import Page
from app.ui.widgets.rate_plot import RatePlot
from app.ui.widgets.step_list import StepList
from app.work.bench_runner import BenchPlan, BenchResult, BenchRunner
from app.work.detection import Detection
from app.work.notebook import Entry, Pages
from app.work.ratio_run import RatioResult, RatioRun
from app.work.record import entry_of_bench
from app.work.records import Records
from app.work.session import Session

_MOST_BARS = 8


class BenchmarkTab(Page):
    """Runs one plan after the other; each result goes into the notebook at once."""

    def __init__(
        self, session: Session, detection: Detection, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Benchmark"), parent)
        self._session = session
        self._entries: tuple[Entry, ...] = ()
        self._deleted: tuple[str, ...] = ()  # by the last Delete
        self._records = Records(session.jobs, parent=self)
        self._pages: Pages | None = None
        self._runner = BenchRunner(session.jobs, session.processes, self)
        self._ratio_runner = RatioRun(session.jobs, session.processes, self)
        self.setObjectName("benchmarkTab")
        self._make_body()
        self.action.connect(self.open_wanted)
        self._connect()
        self._on_evidence_changed()
        self._records.read()

    @property
    def is_running(self) -> bool:
        """Tell whether a measurement is under way."""
        return self._runner.is_running or self._ratio_runner.is_running

    def stop(self) -> None:
        """Cancel what runs; what was measured before is kept."""
        for runner in (self._runner, self._ratio_runner):
            runner.cancel()

    def _on_measure(self) -> None:
        plan = self._plan()
        if plan is not None:
            self._begin()
            self._runner.start(plan)
            self._show_state()

    def _on_measure_ratio(self) -> None:
        plan = self._plan()
        if plan is not None:
            self._begin()
            self._ratio_runner.start(plan)
            self._show_state()

    def _plan(self) -> BenchPlan | None:
        evidence = self._session.evidence
        program = bench_model.llama_bench(evidence.machine)
        if evidence.model is None or program is None or self.is_running:
            return None
        return bench_model.plan(program, evidence.model.path, self._controls.choice())

    def _begin(self) -> None:
        self._steps.clear()
        self._steps.show()

    def _on_done(self, result: BenchResult) -> None:
        self._keep(result)
        self._steps.finish(self.tr("Kept in the notebook."))

    def _on_ratio(self, result: RatioResult) -> None:
        for one in (result.host, result.device):
            self._keep(one)
        self._steps.finish(bench_model.ratio_text(result.r))

    def _keep(self, result: BenchResult) -> None:
        self._records.keep(entry_of_bench(result, self._session.evidence.machine))
        self._session.add_runs(result.runs, result.watched)

    def _on_failed(self, error: Exception) -> None:
        text = error.sentence() if isinstance(error, UserError) else str(error)
        self._steps.finish(text)
        if isinstance(error, UserError):
            self._session.error.emit(error)

    def _on_cancelled(self) -> None:
        self._steps.finish(self.tr("Cancelled; nothing was kept of this run."))

    def _on_evidence_changed(self) -> None:
        model = self._session.evidence.model
        self.subtitle.setText(offload_model.model_line(model) if model else "")
        self._show_state()

    def _show_state(self) -> None:
        evidence = self._session.evidence
        has_program = bench_model.llama_bench(evidence.machine) is not None
        can_run = evidence.model is not None and has_program and not self.is_running
        self._measure.setEnabled(can_run)
        self._measure_ratio.setEnabled(
            can_run and bool(evidence.machine and evidence.machine.devices)
        )
        self._cancel.setVisible(self.is_running)
        self._need.setText(self._missing(has_program))
        self._need.setVisible(bool(self._need.text()))
        self._folder.setVisible(not has_program)
        if evidence.model is None and not self._entries:
            self.set_empty(
                self.tr("Drop a GGUF file to measure how fast it runs here"),
                self.tr("Open a model…"),
                self.tr("Prompt and generation are measured apart, each with its interval."),
            )
        else:
            self.set_filled()

    def _missing(self, has_program: bool) -> str:
        if not has_program:
            return self.tr(
                "No llama-bench was found. Choose the folder of llama.cpp's programs; it is in "
                "every release of llama.cpp. With llama-server alone, the Diagnose tab "
                "measures both rates, and they are kept here."
            )
        if self._session.evidence.model is None:
            return self.tr("Drop a model to measure it.")
        return ""

    def showEvent(self, event: QShowEvent) -> None:
        """Read again what other tabs, commands and windows have kept meanwhile."""
        super().showEvent(event)
        self._records.read()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the mark of disturbed runs in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_model"):
            self._draw_mark()

    def _draw_mark(self) -> None:
        colour = theme.tokens_for(self).warning
        self._model.set_mark(icons.icon("triangle-alert", colour, 14))

    def _on_pages(self, pages: Pages) -> None:
        if pages == self._pages:
            return  # the selection stays
        self._pages = pages
        self._entries = pages.entries
        self._model.show_entries(pages.entries)
        self._warning.setText(pages.warning())
        self._warning.setVisible(bool(pages.warning()))
        self._export.setEnabled(bool(pages.entries))
        shown = pages.entries[-_MOST_BARS:]
        for test, plot, card in self._charts:
            plot.show_rates(bench_model.bars(shown, test))
            card.set_title(bench_model.chart_title(shown, test))
        self._show_state()

    def _on_selection(self) -> None:
        rows = self._table.selectionModel().selectedRows()
        chosen = sorted((row.data(ENTRY_ROLE) for row in rows), key=lambda entry: entry.time)
        self._delete.setEnabled(bool(chosen))
        if len(chosen) == 2:
            self._comparison.setText(bench_model.comparison_text(chosen[0], chosen[1]))
        else:
            self._comparison.setText(self.tr("Select two runs to compare them by interval."))

    def _selected(self) -> tuple[Entry, ...]:
        rows = self._table.selectionModel().selectedRows()
        return tuple(row.data(ENTRY_ROLE) for row in rows)

    def _on_delete(self) -> None:
        self._deleted = tuple(entry.run_id for entry in self._selected())
        if self._deleted:
            self._records.delete(self._deleted)
            self._undo.show()

    def _on_undo(self) -> None:
        self._records.restore(self._deleted)
        self._deleted = ()
        self._undo.hide()

    def _on_export(self) -> None:
        title, form = self.tr("Export the notebook"), self.tr("Table (*.csv)")
        path, _form = choose.target(self, self._session, title, "notebook.csv", form)
        if path:
            self._records.export(self._selected() or self._entries, Path(path))

    def _on_folder(self) -> None:
        title = self.tr("Folder with llama-bench and llama-server")
        if folder := choose.folder(self, title, self._session.llama_folder):
            self._session.set_llama_folder(folder)

    def _connect(self) -> None:
        for runner in (self._runner, self._ratio_runner):
            self._steps.follow(runner)
            runner.failed.connect(self._on_failed)
            runner.cancelled.connect(self._on_cancelled)
            runner.finished.connect(self._show_state)
        self._runner.done.connect(self._on_done)
        self._ratio_runner.done.connect(self._on_ratio)
        self._measure.clicked.connect(self._on_measure)
        self._measure_ratio.clicked.connect(self._on_measure_ratio)
        self._cancel.clicked.connect(self.stop)
        self._delete.clicked.connect(self._on_delete)
        self._undo.clicked.connect(self._on_undo)
        self._export.clicked.connect(self._on_export)
        self._folder.clicked.connect(self._on_folder)
        self._records.changed.connect(self._on_pages)
        self._records.failed.connect(self._session.error)
        self._records.exported.connect(lambda path: choose.written(self._session, path))
        self._session.evidence_changed.connect(self._on_evidence_changed)
        self._table.selectionModel().selectionChanged.connect(self._on_selection)

    def _make_body(self) -> None:
        card = Card(self.tr("What to measure"))
        self._controls = BenchControls(self._session.settings)
        card.body.addWidget(self._controls)
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        self._measure = QPushButton(self.tr("Measure"))
        self._measure.setObjectName("benchMeasure")
        self._measure.setProperty("primary", True)
        self._measure_ratio = QPushButton(self.tr("Measure r: none, then all layers"))
        self._measure_ratio.setObjectName("measureRatio")
        self._measure_ratio.setToolTip(
            self.tr("Two runs; their generation rates give r, how many times slower the host is")
        )
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("benchCancel")
        self._folder = QPushButton(self.tr("Choose folder…"))
        self._folder.setObjectName("benchFolder")
        self._need = dim_label()
        for button in (self._measure, self._measure_ratio, self._cancel, self._folder):
            row.addWidget(button)
        row.addWidget(self._need, 1)
        row.addStretch(0)
        card.body.addLayout(row)
        self.body.addWidget(card)
        self._steps = StepList()
        self._steps.hide()
        self.body.addWidget(self._steps)
        self.body.addLayout(self._make_plots())
        self.body.addWidget(self._make_notebook())
        self.body.addStretch(1)

    def _make_plots(self) -> QHBoxLayout:
        plots = QHBoxLayout()
        plots.setSpacing(theme.M)
        self._charts: list[tuple[Test, RatePlot, Card]] = []
        for test, name in (
            (Test.PROMPT, self.tr("Prompt rates")),
            (Test.GENERATION, self.tr("Generation rates")),
        ):
            card, plot = Card(bench_model.chart_title((), test)), RatePlot(name)
            note = QLabel(self.tr("bars: mean   whiskers: 95 % interval"))
            note.setObjectName("caption")
            card.body.addWidget(plot)
            card.body.addWidget(note)
            plots.addWidget(card, 1)
            self._charts.append((test, plot, card))
        return plots

    def _make_notebook(self) -> Card:
        card = Card(self.tr("Notebook"))
        self._model = RunModel(self)
        self._draw_mark()
        self._table = QTableView()
        self._table.setObjectName("notebookTable")
        self._table.setAccessibleName(self.tr("Runs in the notebook"))
        self._table.setModel(self._model)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setShowGrid(False)
        self._table.setTabKeyNavigation(False)
        self._table.verticalHeader().hide()
        header = self._table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(80)
        self._table.setMinimumHeight(170)
        self._table.setMaximumHeight(300)
        self._warning = dim_label()
        self._warning.hide()
        self._comparison = QLabel(self.tr("Select two runs to compare them by interval."))
        self._comparison.setObjectName("comparison")
        self._comparison.setWordWrap(True)
        for widget in (self._table, self._warning, self._comparison):
            card.body.addWidget(widget)
        self._delete = QPushButton(self.tr("Delete"))
        self._delete.setObjectName("notebookDelete")
        self._delete.setEnabled(False)
        self._delete.setToolTip(
            self.tr("Leaves the selected runs out everywhere. Their lines stay in the file.")
        )
        self._undo = QPushButton(self.tr("Undo delete"))
        self._undo.setObjectName("notebookUndo")
        self._undo.hide()
        self._export = QPushButton(self.tr("Export table…"))
        self._export.setObjectName("notebookExport")
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        for button in (self._delete, self._undo, self._export):
            row.addWidget(button)
        row.addStretch(1)
        card.body.addLayout(row)
        return card
