"""Hardware: what limits this computer, its parts, live values, and every fact with its source."""

import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QWidget,
)

from app.core import bandwidth, fact_words, machine_text
from app.core.bandwidth import HostRate
from app.core.errors import UserError
from app.core.machine import Machine
from app.core.overview import Overview, overview
from app.core.short_home import short_home
from app.probes.host import RealHost
from app.ui import choose, theme
from app.ui.models import device_model, hardware_model
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.card_grid import CardGrid
from app.ui.widgets.fact_table import FactTable
from app.ui.widgets.live_panel import LivePanel
from app.ui.widgets.page import Page
from app.ui.widgets.paste_card import PasteCard
from app.ui.widgets.runtime_list import RuntimeList
from app.ui.widgets.tile_card import TileCard
from app.ui.widgets.track_card import TrackCard
from app.work import bandwidth_run, pasted_facts
from app.work.detection import Detection
from app.work.live import Live
from app.work.pasted_store import PastedStore
from app.work.session import Session


class HardwareTab(Page):
    """Shows the session's machine; looks again when asked."""

    def __init__(
        self, session: Session, detection: Detection, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Hardware"), parent)
        self.setObjectName("hardwareTab")
        self._session = session
        self._detection = detection
        self._machine: Machine | None = None
        self._live = Live(session.jobs, parent=self)
        self._pasted = PastedStore()
        self._captions = (self.tr("Where it computes"), self.tr("Room"), self.tr("Also"))
        self._make_body()
        self.action.connect(self._on_action)
        session.evidence_changed.connect(self._on_evidence_changed)
        session.llama_folder_changed.connect(self._on_folder_changed)
        detection.started.connect(self._on_detection)
        detection.finished.connect(self._on_detection)
        detection.progress.connect(self._on_progress)
        self._on_folder_changed(session.llama_folder)
        self._on_evidence_changed()
        self._on_detection()

    def stop(self) -> None:
        """Stop the live readings."""
        self._live.stop()

    def _on_evidence_changed(self) -> None:
        machine = self._session.evidence.machine
        foreign = self._session.read_only_path
        self._track.show_track(self._session.evidence.track)
        self._live_card.setVisible(not foreign)
        self._detect.setEnabled(not foreign)
        self._paste.setVisible(not foreign)
        self._measure.setEnabled(not foreign and self._session.evidence.machine is not None)
        if machine is None:
            self._machine = None
            self._show_empty()
            return
        if foreign:
            name = Path(foreign).name
            self.subtitle.setText(self.tr("The computer in {}").format(name))
        else:
            self.subtitle.setText(device_model.system_line(machine))
        self.set_notice(" ".join(machine.skipped))
        self.set_filled()
        machine = short_home(machine, str(Path.home()))
        if machine != self._machine:
            self._machine = machine
            self._show_machine(machine)

    def _on_detection(self) -> None:
        is_running = self._detection.is_running
        for widget in (self._step, self._progress, self._cancel):
            widget.setVisible(is_running)
        self._detect.setVisible(not is_running)
        self._measure.setVisible(not is_running)
        self._progress.setValue(0)
        self._step.clear()
        if self._machine is None:
            self._show_empty()

    def _on_progress(self, percent: int, step: str) -> None:
        text = self.tr("Asking: {}").format(step)
        self._progress.setValue(percent)
        self._step.setText(text)
        if self._machine is None:
            self._show_empty(text)

    def _on_action(self) -> None:
        if self._detection.is_running:
            self._detection.cancel()
        else:
            self._detection.start()

    def _on_folder_changed(self, folder: str) -> None:
        self._folder.setText(folder)

    def _on_folder_typed(self) -> None:
        self._session.set_llama_folder(self._folder.text().strip())

    def _on_choose_folder(self) -> None:
        title = self.tr("Choose the folder with llama-server")
        if folder := choose.folder(self, title, self._folder.text()):
            self._session.set_llama_folder(folder)

    def _on_copy(self) -> None:
        if self._machine is not None:
            text = machine_text.machine_text(self._machine)
            QGuiApplication.clipboard().setText(text)
            self._copy.setText(self.tr("Copied"))

    def _on_measure(self) -> None:
        machine = self._session.evidence.machine
        if machine is None:
            return
        self._measure.setEnabled(False)
        job = self._session.jobs.start(
            lambda _cancel, _progress: bandwidth_run.measure_and_keep(RealHost(), machine),
            name="memory bandwidth",
        )
        job.done.connect(self._on_measured)
        job.failed.connect(self._session.error)
        job.finished.connect(self._on_measure_ended)

    def _on_measure_ended(self) -> None:
        self._measure.setEnabled(True)

    def _on_measured(self, rate: HostRate) -> None:
        machine = self._session.evidence.machine
        if machine is not None:
            self._session.set_machine(bandwidth.with_host(machine, rate))

    def _on_pasted(self, text: str) -> None:
        machine = self._session.evidence.machine
        if machine is None:
            return
        try:
            added = self._pasted.add(machine, text)
        except UserError as error:
            self._session.error.emit(error)
            return
        self._paste.show_result(added.sentence, is_added=added.n_facts > 0)
        if added.n_facts:
            self._session.set_machine(added.machine)

    def _on_paste_removed(self, source: str) -> None:
        machine = self._session.evidence.machine
        if machine is None:
            return
        try:
            self._pasted.remove(machine, source)
        except UserError as error:
            self._session.error.emit(error)
            return
        self._paste.show_entries(self._pasted.entries(machine))
        self._detection.start()  # what the probes say themselves comes back

    def _on_find(self) -> None:
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def _on_search(self) -> None:
        groups = hardware_model.matching(self._machine, self._search.text())
        self._facts.show_groups(groups)
        self._facts.setVisible(bool(groups))
        self._no_fact.setVisible(not groups)

    def _show_empty(self, step: str = "") -> None:
        if self._detection.is_running:
            self.set_empty(self.tr("Looking at this computer…"), self.tr("Cancel"), step)
            return
        self.set_empty(
            self.tr("This computer has not been looked at yet"),
            self.tr("Detect"),
            self.tr("It takes about a second and changes nothing."),
        )

    def _show_machine(self, machine: Machine) -> None:
        self._show_overview(machine, overview(machine))
        self._cards.show_cards([TileCard(tile) for tile in device_model.tiles(machine)])
        self._paste.show_entries(self._pasted.entries(machine))
        self._panel.set_memory_limit(machine.number("memory.limit"))
        self._runtimes.show_entries(device_model.runtime_entries(machine))
        self._copy.setText(self.tr("Copy all"))
        self._on_search()

    def _show_overview(self, machine: Machine, said: Overview) -> None:
        self._headline.setText(said.headline)
        for label, sentence in zip(self._sentences, said.sentences, strict=True):
            label.setText(sentence.text)
            facts = [fact for path in sentence.paths if (fact := machine.fact(path))]
            sources = (f"{fact_words.title(f.path)}: {f.reading.source}" for f in facts)
            label.setToolTip("\n".join(sources))

    def _make_body(self) -> None:
        self.body.addWidget(self._make_overview())
        self._cards = CardGrid()
        self.body.addWidget(self._cards)
        self._live_card = Card(self.tr("Now"))
        self._live_card.head.addWidget(
            dim_label(self.tr("the last minute of this computer, read twice a second"), wrap=False)
        )
        self._panel = LivePanel(self._live)
        self._live_card.body.addWidget(self._panel)
        self.body.addWidget(self._live_card)
        self._track = TrackCard()
        self.body.addWidget(self._track)
        self.body.addWidget(self._make_runtimes())
        self.body.addWidget(self._make_facts())
        self._paste = PasteCard(pasted_facts.commands(sys.platform))
        self._paste.pasted.connect(self._on_pasted)
        self._paste.removed.connect(self._on_paste_removed)
        self.body.addWidget(self._paste)
        self.body.addStretch(1)

    def _make_overview(self) -> Card:
        card = Card(self.tr("What limits this computer for language models"))
        self._step = dim_label(wrap=False)
        self._step.setObjectName("detectStep")
        self._progress = QProgressBar()
        self._progress.setObjectName("detectProgress")
        self._progress.setAccessibleName(self.tr("Detection"))
        self._progress.setTextVisible(False)
        self._progress.setFixedWidth(120)
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("detectCancel")
        self._cancel.clicked.connect(self._detection.cancel)
        self._detect = QPushButton(self.tr("Detect again"))
        self._detect.setObjectName("detectAgain")
        self._detect.setProperty("primary", True)
        self._detect.clicked.connect(self._detection.start)
        self._measure = QPushButton(self.tr("Measure memory"))
        self._measure.setObjectName("measureMemory")
        self._measure.setToolTip(
            self.tr("Reads memory for about two seconds, to tell how fast the CPU gets weights")
        )
        self._measure.clicked.connect(self._on_measure)
        for widget in (self._step, self._progress, self._cancel, self._measure, self._detect):
            card.head.addWidget(widget)
        self._headline = QLabel()
        self._headline.setObjectName("headline")
        self._headline.setWordWrap(True)
        self._headline.setStyleSheet("font-size: 17px; font-weight: 600;")
        card.body.addWidget(self._headline)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.XL)
        grid.setVerticalSpacing(theme.S)
        grid.setColumnStretch(1, 1)
        self._sentences = tuple(QLabel() for _ in self._captions)
        for row, (caption, label) in enumerate(zip(self._captions, self._sentences, strict=True)):
            label.setWordWrap(True)
            label.setProperty("sentence", row)
            grid.addWidget(dim_label(caption, wrap=False), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, row, 1)
        card.body.addLayout(grid)
        return card

    def _make_runtimes(self) -> Card:
        card = Card(self.tr("Runtimes on this computer"))
        self._runtimes = RuntimeList(
            self.tr(
                "None found on PATH, in the usual folders, or running. Choose the folder that "
                "holds llama-server, and its devices are listed here."
            )
        )
        card.body.addWidget(self._runtimes)
        row = QHBoxLayout()
        row.setSpacing(theme.S)
        caption = dim_label(self.tr("Folder of llama.cpp"), wrap=False)
        self._folder = QLineEdit()
        self._folder.setObjectName("llamaFolder")
        self._folder.setAccessibleName(caption.text())
        self._folder.setPlaceholderText(self.tr("found by itself where possible"))
        self._folder.editingFinished.connect(self._on_folder_typed)
        choose = QPushButton(self.tr("Choose…"))
        choose.setObjectName("chooseFolder")
        choose.setAccessibleName(self.tr("Choose the folder of llama.cpp"))
        choose.clicked.connect(self._on_choose_folder)
        row.addWidget(caption)
        row.addWidget(self._folder, 1)
        row.addWidget(choose)
        card.body.addLayout(row)
        return card

    def _make_facts(self) -> Card:
        card = Card(self.tr("All facts"))
        self._search = QLineEdit()
        self._search.setObjectName("factSearch")
        self._search.setAccessibleName(self.tr("Search in the facts"))
        self._search.setPlaceholderText(self.tr("Search"))
        self._search.setClearButtonEnabled(True)
        self._search.setFixedWidth(240)
        self._search.textChanged.connect(self._on_search)
        self._copy = QPushButton(self.tr("Copy all"))
        self._copy.setObjectName("copyAll")
        self._copy.clicked.connect(self._on_copy)
        card.head.addWidget(self._search)
        card.head.addWidget(self._copy)
        self._facts = FactTable()
        self._no_fact = dim_label(self.tr("No fact has these words."))
        self._no_fact.setObjectName("noFact")
        card.body.addWidget(self._facts)
        card.body.addWidget(self._no_fact)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self._on_find)
        return card
