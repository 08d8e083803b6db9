"""Fit: which quantisations, contexts and cache types of the model fit on which device."""

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QWidget,
)

from app.core import builds, fit_table
from app.core.described import SOURCE, Description, described
from app.core.errors import UserError
from app.core.fit_table import FitRow, FitWish
from app.core.host_memory import host_of
from app.core.memory_curve import MemoryCurve, memory_curve
from app.core.model import Model
from app.core.placement import prepare
from app.core.request import LoadRequest
from app.ui import theme
from app.ui.models import fit_model, memory_model, offload_model
from app.ui.models.fit_model import FitModel
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.device_chooser import DeviceChooser
from app.ui.widgets.field import Field, combo
from app.ui.widgets.memory_plot import MemoryPlot
from app.ui.widgets.models_card import ModelsCard
from app.ui.widgets.page import Page
from app.ui.widgets.size_form import SizeForm
from app.ui.widgets.verdict_delegate import VerdictDelegate
from app.work.detection import Detection
from app.work.jobs import Latest
from app.work.model_finder import ModelFinder
from app.work.session import Session

_ALL_CACHES = "all"
_ROW, _MOST_ROWS = 34, 13  # the table scrolls by itself beyond so many rows


class FitTab(Page):
    """Shows table and curve for the session's model, or one that is described by its sizes."""

    def __init__(
        self, session: Session, detection: Detection, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Fit"), parent)
        self._session = session
        self._latest = Latest(session.jobs)
        self._latest_curve = Latest(session.jobs)
        self._described: Model | None = None
        self._coming: Iterator[FitRow] = iter(())  # the rows that are not calculated yet
        self._finder = ModelFinder(session, self)
        self.setObjectName("fitTab")
        self._make_body()
        self._chooser.changed.connect(self._start)
        self._caches.currentIndexChanged.connect(self._start)
        self._form.described.connect(self._on_described)
        self._finder.found.connect(self._found.show_found)
        self._finder.judged.connect(self._found.show_verdict)
        self._found.chosen.connect(lambda path: session.open_paths([path]))
        self._found.folder_added.connect(self._finder.add_folder)
        self._found.folder_removed.connect(self._finder.remove_folder)
        detection.finished.connect(self._finder.start)
        session.evidence_changed.connect(self._on_evidence_changed)
        if session.evidence.machine is not None:
            self._finder.start()
        self._on_evidence_changed()

    def stop(self) -> None:
        """Stop searching and calculating."""
        self._finder.stop()
        self._latest.cancel()
        self._latest_curve.cancel()

    def _on_evidence_changed(self) -> None:
        evidence = self._session.evidence
        machine = evidence.machine
        self._chooser.set_devices(machine.devices if machine else (), is_known=machine is not None)
        if evidence.model is not None:
            self._described = None
        self._show_model()

    @Slot(object, str)
    def _on_described(self, sizes: Description, file_type: str) -> None:
        try:
            self._described = described(sizes, file_type)
        except UserError as error:
            self._form.show_problem(error.sentence())
            return
        self._form.show_problem("")
        self._show_model()

    def _model_shown(self) -> Model | None:
        return self._described or self._session.evidence.model

    def _show_model(self) -> None:
        model = self._model_shown()
        for card in (self._table_card, self._curve_card):
            card.setVisible(model is not None)
        self._hint_card.setVisible(model is None)
        if model is None:
            return
        self.subtitle.setText(
            f"{model.name} · {SOURCE}" if self._described else offload_model.model_line(model)
        )
        self.set_notice(offload_model.problems(model))
        self._start()

    def _start(self) -> None:
        model = self._model_shown()
        if model is None:
            return
        machine = self._session.evidence.machine
        devices, host = self._chooser.devices, host_of(machine)
        request = LoadRequest(
            use_devices=self._chooser.uses_devices, device_ids=self._chooser.device_ids
        )
        build = builds.of_machine(machine)
        chosen = self._caches.currentData()
        is_all = chosen == _ALL_CACHES
        types = fit_table.CACHE_TYPES if is_all else (chosen,)
        wish = FitWish(cache_types=types, build=build)
        self._plot.show_view(memory_model.EMPTY)  # of other devices, or another model
        self._curve_note.setText(self.tr("Calculating the curve…"))
        rows = self._coming = fit_table.fit_rows(model, devices, host, request, wish)
        job = self._latest.start(
            lambda cancel, _progress: fit_model.first_of(rows, cancel), name="first rows that fit"
        )
        job.done.connect(self._on_first_rows)
        job.failed.connect(self._on_failed)
        asked = replace(request, cache_type_k=types[0], cache_type_v=types[0])
        drawn = self._latest_curve.start(
            lambda cancel, _progress: memory_curve(
                prepare(model), devices, host, asked, build=build, cancel=cancel
            ),
            name="memory curve",
        )
        drawn.done.connect(self._on_curve)
        drawn.failed.connect(self._on_no_curve)

    def _on_first_rows(self, rows: tuple[FitRow, ...]) -> None:
        """Show what is there while the other rows are calculated."""
        self._on_rows(rows)
        coming = self._coming
        job = self._latest.start(
            lambda cancel, _progress: (*rows, *fit_model.collect(coming, cancel)), name="fit table"
        )
        job.done.connect(self._on_rows)
        job.failed.connect(self._on_failed)

    def _on_rows(self, rows: tuple[FitRow, ...]) -> None:
        self._model.show_rows(rows)
        self._table.setColumnHidden(1, self._caches.currentData() != _ALL_CACHES)
        self._sentence.setText(fit_model.sentence(rows))
        self._table.setAccessibleDescription(self._sentence.text())
        self._table.resizeColumnsToContents()
        header = self._table.horizontalHeader().sizeHint().height()
        # room for the horizontal scroll bar of a narrow window; elsewhere it would cut a row in two
        is_narrow = self._table.horizontalHeader().length() > self._table.viewport().width()
        bar = theme.L if is_narrow else 0
        self._table.setFixedHeight(header + _ROW * min(len(rows), _MOST_ROWS) + bar)

    def _on_failed(self, error: Exception) -> None:
        self._model.show_rows(())
        self._sentence.setText(fit_model.failure(error))

    @Slot(object)
    def _on_curve(self, curve: MemoryCurve) -> None:
        view = memory_model.memory_view(curve)
        self._plot.show_view(view)
        self._curve_note.setText(view.sentence)

    @Slot(object)
    def _on_no_curve(self, error: Exception) -> None:
        self._plot.show_view(memory_model.EMPTY)
        self._curve_note.setText(fit_model.failure(error))

    def _make_body(self) -> None:
        controls = Card()
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        self._chooser = DeviceChooser()
        entries = (*((name, name) for name in fit_table.CACHE_TYPES), (self.tr("all"), _ALL_CACHES))
        self._caches = combo("fitCacheTypes", entries)
        row.addWidget(self._chooser, 4)
        row.addWidget(Field(self.tr("Cache type, K and V"), self._caches), 1)
        row.addStretch(1)
        controls.body.addLayout(row)
        self.body.addWidget(controls)
        self._hint_card = self._make_hint()
        self._table_card = self._make_table()
        self._curve_card = self._make_curve()
        self._form = SizeForm()
        self._found = ModelsCard(with_folders=True)
        for card in (
            self._hint_card, self._table_card, self._curve_card, self._form, self._found,
        ):  # fmt: skip
            self.body.addWidget(card)
        self.body.addStretch(1)
        self.set_filled()

    def _make_hint(self) -> Card:
        card = Card(self.tr("What fits"))
        row = QHBoxLayout()
        hint = dim_label(
            self.tr(
                "Drop a GGUF file to see what fits on this computer, choose a model from the list "
                "below, or describe one by its sizes. Every quantisation is calculated from the "
                "one file's header."
            )
        )
        button = QPushButton(self.tr("Open a model…"))
        button.setObjectName("fitOpen")
        button.setProperty("primary", True)
        button.clicked.connect(self.open_wanted)
        row.addWidget(hint, 1)
        row.addWidget(button)
        card.body.addLayout(row)
        return card

    def _make_curve(self) -> Card:
        card = Card(self.tr("Memory over context and slots: where it ends"))
        self._plot = MemoryPlot()
        self._curve_note = dim_label()
        card.body.addWidget(self._plot)
        card.body.addWidget(self._curve_note)
        return card

    def _make_table(self) -> Card:
        card = Card(self.tr("What fits"))
        self._sentence = dim_label()
        self._sentence.setObjectName("fitSentence")
        self._model = FitModel(self)
        self._table = QTableView()
        self._table.setObjectName("fitTable")
        self._table.setAccessibleName(self.tr("What fits, by quantisation and context"))
        self._table.setModel(self._model)
        self._table.setItemDelegate(VerdictDelegate(self._table))
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._table.setShowGrid(False)
        self._table.setWordWrap(False)
        self._table.verticalHeader().hide()
        self._table.verticalHeader().setDefaultSectionSize(_ROW)
        self._table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self._table.horizontalHeader().setHighlightSections(False)
        self._table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._table.setTabKeyNavigation(False)
        self._table.setMinimumHeight(420)
        card.body.addWidget(self._sentence)
        card.body.addWidget(self._table)
        rule = dim_label(
            self.tr(
                "Columns are contexts in tokens; a cell says how many layers fit on the devices. "
                "Counted as llama-server needs it, at the top of the range, with 1024 MiB left "
                "free on each device. Rows other than this file are what the model would weigh "
                "after re-quantising."
            )
        )
        rule.setAlignment(Qt.AlignmentFlag.AlignLeft)
        card.body.addWidget(rule)
        return card
