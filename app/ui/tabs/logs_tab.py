"""The Logs tab: any log of any size, its lines that matter marked and explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QPushButton, QSplitter, QWidget

from app.core import units
from app.core.errors import UserError
from app.core.log import LogSummary
from app.core.parts import Part
from app.ui import theme
from app.ui.models import log_meaning, log_model, log_story
from app.ui.models.log_model import LogModel, LogReading
from app.ui.models.log_text import KeptLines
from app.ui.widgets.evidence_pane import EvidencePane
from app.ui.widgets.log_copy import PrivateCopy
from app.ui.widgets.log_filter import LogFilter, Rows
from app.ui.widgets.log_marks import LineMarks
from app.ui.widgets.log_menu import LogMenu
from app.ui.widgets.log_pane import LogPane
from app.ui.widgets.log_search import LogSearch
from app.ui.widgets.page import Page
from app.ui.widgets.reading_row import ReadingRow
from app.ui.widgets.story_card import StoryCard
from app.work.detection import Detection
from app.work.follow import Follower
from app.work.jobs import Job, Latest
from app.work.pasted import Pasted
from app.work.session import Session

if TYPE_CHECKING:  # it loads numpy, which takes longer than showing the tab
    from app.work.log_file import LogFile

_SIDE = 320


class LogsTab(Page):
    """Shows the session's log; while it is seen, it follows a file that grows."""

    def __init__(
        self, session: Session, detection: Detection, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Logs"), parent)
        self._session = session
        self._file: LogFile | None = None
        self._log: LogSummary | None = None  # None while the file's lines are not yet judged
        self._kept: LogSummary | None = None  # its events are shown in place of the file
        self._n_restarts = 0
        self._wanted = 0  # a line to show as soon as it is read
        self._job: Job | None = None  # that reads the file for the first time
        self._pasted = Pasted()
        self._ranking = Latest(session.jobs)
        self._follower = Follower(session, self)
        self._model = LogModel(self)
        self._marks = LineMarks()
        self.setObjectName("logsTab")
        self._make_body()
        self._make_actions()
        self._connect()
        self._on_log_found()
        self._on_changed()

    def show_line(self, line: int) -> None:
        """Show a line, from 1, now or as soon as it is read."""
        self._filter.allow(line)
        self._wanted = line
        self._go_to_wanted()
        self._pane.view.setFocus()

    def stop(self) -> None:
        """Follow and search no more; pasted text is taken away."""
        self._follower.set_active(False)
        self._follower.follow(None)
        self._search.stop()
        self._filter.stop()
        self._logs_here.stop()
        self._ranking.cancel()
        self._pasted.drop_all()

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the file while it is seen."""
        super().showEvent(event)
        self._follower.set_active(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Look at the file no more."""
        super().hideEvent(event)
        self._follower.set_active(False)

    def _on_changed(self) -> None:
        """Show the session's log: the file, and what is known of its lines."""
        session = self._session
        file, log = session.log_file, session.evidence.log
        self._close.setVisible((file or log) is not None and not session.read_only_path)
        if file is not None and str(file.path) != session.log_path:
            log = None  # it is still read; the evidence is about another log
        if file is None and log is None:
            self._show_nothing()
            return
        self.set_filled()
        is_other = file is not self._file or (file is None and log is not self._kept)
        if is_other:
            self._show_other(file, log)
        else:
            self._pane.view.refresh(follow=self._log is not None)
        if log is not self._log or is_other:
            self._show_log(log)

    def _show_nothing(self) -> None:
        self._file = self._log = self._kept = None
        self._ranking.cancel()
        self._follower.follow(None)
        self._pane.view.show_source(None)
        self._model.show(())
        self._search.use(None)
        self.subtitle.setText("")
        self.set_notice("")
        self.set_empty(
            self.tr("Drop a log to see which of its lines matter"),
            self.tr("Open a log…"),
            self.tr(
                "The output of llama.cpp, Ollama or LM Studio, of any size. Text that you copied "
                "can be pasted with Ctrl+V."
            ),
        )

    def _show_other(self, file: LogFile | None, log: LogSummary | None) -> None:
        self._file = file
        self._reading.hide()
        self._wanted = 0
        self._n_restarts = file.n_restarts if file else 0
        self._follower.follow(file)
        if file is not None:
            self._kept = None
            self._filter.use(file.index)
            self._pane.view.show_source(file.index)
            self.set_notice("")
            self._search.use(file.index)
        elif log is not None:
            self._show_kept(log, self.tr("The log itself is not on this computer."))

    def _show_kept(self, log: LogSummary, why: str) -> None:
        """Show the lines that the evidence kept, as the file cannot be read."""
        kept, view, line = KeptLines(log.n_lines, log.events), self._pane.view, self._wanted
        line = line or view.current_line
        self._kept = log
        self._search.use(None)
        self._filter.use(None)
        view.show_source(kept)
        view.show_rows([row + 1 for row in kept.rows])
        view.show_marks(self._marks, self._note_of)
        view.go_to_line(line)
        self.set_notice(f"{why} {self.tr('Shown are the lines that were kept from it.')}")

    def _show_log(self, log: LogSummary | None) -> None:
        self._log = log
        self._ranking.cancel()
        self._story.setVisible(log is not None)
        if log is None:
            self._model.show(())
            self._marks = LineMarks()
            self._side.show_waiting()
            self._pane.view.show_marks(self._marks, self._note_of)
            self.subtitle.setText(self._file.path.name if self._file else "")
            return
        self._story.show_story(log_story.story_of(log))
        self.subtitle.setText(log_story.subtitle(log, self._file.path.name if self._file else ""))
        job = self._ranking.start(
            lambda cancel, _progress: log_model.reading_of(log, cancel), name="ranking log lines"
        )
        job.done.connect(self._on_ranked)

    def _on_ranked(self, reading: LogReading) -> None:
        view, is_first = self._pane.view, not self._model.lines
        self._model.show(reading.rows)
        self._marks = reading.marks
        view.show_marks(reading.marks, self._note_of)
        self._filter.refresh()
        if is_first and view.current_line <= 1 and view.verticalScrollBar().value() == 0:
            self._wanted = self._wanted or log_story.most_telling(reading.log) or 0
        self._go_to_wanted()
        self._on_line(view.current_line)

    def _go_to_wanted(self) -> None:
        view = self._pane.view
        line = self._wanted
        n_lines = self._file.index.n_lines if self._file else line
        if line and view.n_rows and (line <= n_lines or (self._file and self._file.is_read)):
            self._wanted = 0
            view.go_to_line(min(line, n_lines))

    def _on_line(self, line: int) -> None:
        row = self._model.row_of(line)
        log = self._log
        self._side.show_line(line)
        entry = self._model.entry(row) if row is not None else None
        self._side.show_meaning(log_meaning.meaning_of(entry, log) if entry and log else None)

    def _note_of(self, line: int) -> str:
        row = self._model.row_of(line)
        if row is None or self._log is None:
            return ""
        meaning = log_meaning.meaning_of(self._model.entry(row), self._log)
        return f"{meaning.title}. {meaning.text}"

    def _on_next_evidence(self) -> None:
        self._jump(self._model.next_line(self._pane.view.current_line))

    def _on_previous_evidence(self) -> None:
        self._jump(self._model.previous_line(self._pane.view.current_line))

    def _jump(self, line: int | None) -> None:
        if line is None:
            self._session.message.emit(self.tr("There is no further line that matters"))
        else:
            self._pane.view.go_to_line(line)

    def _on_copied(self, n_copied: int, n_selected: int) -> None:
        text = self.tr("Copied {0}").format(units.lines(n_copied))
        if n_copied < n_selected:
            text += self.tr(", the first of {0}").format(units.count(n_selected))
        self._session.message.emit(text)

    def _on_found(self) -> None:
        if self._filter.rows is Rows.FOUND:
            self._filter.refresh()

    def _on_chosen(self, path: str) -> None:
        self._session.open_paths([path])

    def _on_command_copied(self, command: str) -> None:
        self._session.message.emit(self.tr("Copied: {0}").format(command))

    def _on_log_found(self) -> None:
        """Show how far the reading of the file is, which began before."""
        job, file = self._session.reading_job, self._session.log_file
        if job is None or job is self._job or file is None:
            return
        self._job = job
        job.progress.connect(self._on_progress)
        job.finished.connect(self._on_read)

    def _on_progress(self, percent: int, text: str) -> None:
        self._pane.view.refresh()
        self._go_to_wanted()
        if percent < 100:
            self._reading.show_progress(percent, text)

    def _on_read(self) -> None:
        if self._job is not None and not self._job.is_finished:
            return  # a newer one goes on
        self._job = None
        self._reading.hide()
        self._pane.view.refresh()
        if self._file is not None and self._log is None:
            self._reading.show_stopped(
                self.tr("Reading was stopped, so no lines are marked and the end may be missing.")
            )

    def _on_stop_reading(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _on_read_again(self) -> None:
        if self._file is not None:
            self._session.open_paths([str(self._file.path)])

    def _on_lines_added(self) -> None:
        file = self._file
        if file is not None and file.n_restarts != self._n_restarts:
            self._n_restarts = file.n_restarts
            self._model.show(())
            self._pane.view.show_source(file.index)
            self._session.message.emit(self.tr("The log began anew"))
        self._pane.view.refresh(follow=self._log is not None)
        self._go_to_wanted()

    def _on_lost(self, error: UserError) -> None:
        if self._log is not None:
            self._show_kept(self._log, f"{error.title}.")
        else:
            self.set_notice(error.sentence())

    def _on_paste(self) -> None:
        """Open what the clipboard holds: files, or text as a log."""
        # the stubs do not say that an empty clipboard may give none
        data = cast(QMimeData | None, QGuiApplication.clipboard().mimeData())
        urls = data.urls() if data is not None else []
        paths = [url.toLocalFile() for url in urls if url.isLocalFile()]
        text = data.text() if data is not None and not paths else ""
        if paths:
            self._session.open_paths(paths)
        elif not text.strip():
            self._session.message.emit(self.tr("Nothing is copied: copy the log's text first"))
        else:
            job = self._session.jobs.start(
                lambda _cancel, _progress: self._pasted.keep(text), name="pasting"
            )
            job.done.connect(lambda path: self._session.open_paths([str(path)]))
            job.failed.connect(self._session.error)

    def _make_body(self) -> None:
        self._paste = QPushButton(self.tr("Paste a log"))
        self._paste.setObjectName("pasteButton")
        self._paste.setToolTip(self.tr("Show copied text as a log (Ctrl+V)"))
        self._close = QPushButton(self.tr("Close this log"))
        self._close.setObjectName("closeLog")
        self._close.setToolTip(self.tr("Take it out of the case; the file stays as it is"))
        self._logs_here = LogMenu(self._session.jobs)
        self.head.addWidget(self._close)
        self.head.addWidget(self._logs_here)
        self.head.addWidget(self._paste)
        self._reading = ReadingRow()
        self._story = StoryCard()
        self._pane = LogPane()
        self._side = EvidencePane(self._model)
        self._search = LogSearch(self._session.jobs, self._pane.find_bar, self._pane.view)
        self._private = PrivateCopy(
            self._session.jobs, self._pane.view, lambda: self._session.evidence
        )
        self._filter = LogFilter(
            self._session.jobs,
            self._pane.rows,
            self._pane.view,
            lambda: self._model.lines,
            lambda: self._search.lines,
        )
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setObjectName("logSplitter")
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(theme.M)
        splitter.addWidget(self._pane)
        splitter.addWidget(self._side)
        splitter.setStretchFactor(0, 1)
        splitter.setSizes([10_000, _SIDE])
        self._side.setMinimumWidth(_SIDE - 60)
        self.body.addWidget(self._reading)
        self.body.addWidget(self._story)
        self.body.addWidget(splitter, 1)

    def _make_actions(self) -> None:
        for name, keys, slot in (
            ("nextEvidence", "F8", self._on_next_evidence),
            ("previousEvidence", "Shift+F8", self._on_previous_evidence),
            ("findNext", "F3", self._search.next),
            ("findPrevious", "Shift+F3", self._search.previous),
            ("find", QKeySequence.StandardKey.Find, self._on_find),
            ("paste", QKeySequence.StandardKey.Paste, self._on_paste),
        ):
            action = QAction(self)
            action.setObjectName(name)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(slot)
            self.addAction(action)

    def _on_find(self) -> None:
        if not self.is_empty_state:
            self._pane.find_bar.field.setFocus()
            self._pane.find_bar.field.selectAll()

    def _connect(self) -> None:
        session = self._session
        self.action.connect(self.open_wanted)
        session.log_found.connect(self._on_log_found)
        session.log_file_changed.connect(self._on_changed)
        session.evidence_changed.connect(self._on_changed)
        self._follower.lines_added.connect(self._on_lines_added)
        self._follower.lost.connect(self._on_lost)
        self._close.clicked.connect(lambda: session.remove(Part.LOG))
        self._paste.clicked.connect(self._on_paste)
        self._reading.cancel_wanted.connect(self._on_stop_reading)
        self._reading.again_wanted.connect(self._on_read_again)
        self._story.line_wanted.connect(self.show_line)
        self._search.found_changed.connect(self._on_found)
        self._filter.said.connect(session.message)
        self._private.said.connect(session.message)
        self._pane.private_copy_wanted.connect(self._private.start)
        self._logs_here.chosen.connect(self._on_chosen)
        self._logs_here.copied.connect(self._on_command_copied)
        self._pane.view.current_changed.connect(self._on_line)
        self._pane.view.copied.connect(self._on_copied)
        self._side.line_chosen.connect(self._pane.view.go_to_line)
        self._side.next_wanted.connect(self._on_next_evidence)
        self._side.previous_wanted.connect(self._on_previous_evidence)
