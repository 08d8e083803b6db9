"""Fit: which quantisations, contexts and cache types of the model fit on which device."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QTableView, QWidget

from app.core import fit_table
from app.core.fit_table import FitRow, FitWish
from app.core.host_memory import host_of
from app.core.request import LoadRequest
from app.ui import theme
from app.ui.models import fit_model, offload_model
from app.ui.models.fit_model import FitModel
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.device_chooser import DeviceChooser
from app.ui.widgets.field import Field, combo
from app.ui.widgets.page import Page
from app.ui.widgets.verdict_delegate import VerdictDelegate
from app.work.detection import Detection
from app.work.jobs import Latest
from app.work.session import Session

_ALL_CACHES = "all"


class FitTab(Page):
    """Shows the table for the session's model on the chosen devices."""

    def __init__(
        self, session: Session, detection: Detection, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Fit"), parent)
        self._session = session
        self._latest = Latest(session.jobs)
        self.setObjectName("fitTab")
        self._make_body()
        self.action.connect(self.open_wanted)
        self._chooser.changed.connect(self._start)
        self._caches.currentIndexChanged.connect(self._start)
        session.evidence_changed.connect(self._on_evidence_changed)
        self._on_evidence_changed()

    def _on_evidence_changed(self) -> None:
        evidence = self._session.evidence
        self._chooser.set_devices(evidence.machine.devices if evidence.machine else ())
        model = evidence.model
        if model is None:
            self.set_empty(
                self.tr("Drop a GGUF file to see what fits on this computer"),
                self.tr("Open a model…"),
                self.tr("Every quantisation of it is calculated from this one file's header."),
            )
            return
        self.subtitle.setText(offload_model.model_line(model))
        self.set_notice(offload_model.problems(model))
        self.set_filled()
        self._start()

    def _start(self) -> None:
        evidence = self._session.evidence
        model = evidence.model
        if model is None:
            return
        devices, host = self._chooser.devices, host_of(evidence.machine)
        request = replace(LoadRequest(), use_devices=self._chooser.uses_devices)
        chosen = self._caches.currentData()
        wish = FitWish(
            cache_types=fit_table.CACHE_TYPES if chosen == _ALL_CACHES else (chosen,),
            build=offload_model.llama_build(evidence.machine),
        )
        job = self._latest.start(
            lambda cancel, _progress: fit_model.collect(
                fit_table.fit_rows(model, devices, host, request, wish), cancel
            ),
            name="fit table",
        )
        job.done.connect(self._on_rows)
        job.failed.connect(self._on_failed)

    def _on_rows(self, rows: tuple[FitRow, ...]) -> None:
        self._model.show_rows(rows)
        self._table.setColumnHidden(1, self._caches.currentData() != _ALL_CACHES)
        self._sentence.setText(fit_model.sentence(rows))
        self._table.setAccessibleDescription(self._sentence.text())
        self._table.resizeColumnsToContents()

    def _on_failed(self, error: Exception) -> None:
        self._model.show_rows(())
        self._sentence.setText(fit_model.failure(error))

    def _make_body(self) -> None:
        controls = Card()
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        self._chooser = DeviceChooser()
        entries = (*((name, name) for name in fit_table.CACHE_TYPES), (self.tr("all"), _ALL_CACHES))
        self._caches = combo("fitCacheTypes", entries)
        row.addWidget(self._chooser, 2)
        row.addWidget(Field(self.tr("Cache type, K and V"), self._caches), 1)
        row.addStretch(2)
        controls.body.addLayout(row)
        self.body.addWidget(controls)
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
        self._table.verticalHeader().setDefaultSectionSize(34)
        self._table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self._table.horizontalHeader().setHighlightSections(False)
        self._table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._table.setTabKeyNavigation(False)
        self._table.setMinimumHeight(420)
        card.body.addWidget(self._sentence)
        card.body.addWidget(self._table, 1)
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
        self.body.addWidget(card, 1)
