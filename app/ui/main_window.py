"""The main window: toolbar, navigation, six tabs over one session, and drop anywhere."""

import importlib
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QMimeData, QTimer
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeySequence,
)
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import product
from app.core.errors import UserError
from app.ui import choose, theme
from app.ui.widgets.banner import Banner
from app.ui.widgets.nav_bar import NavPanel
from app.ui.widgets.page import Page
from app.ui.widgets.toolbar import MainToolBar
from app.work.detection import Detection
from app.work.session import Session
from app.work.settings import THEME


@dataclass(frozen=True, slots=True)
class TabSpec:
    """A tab: its class is imported when it is first shown."""

    id: str
    title: str
    icon: str
    module: str
    class_name: str


TABS = (
    TabSpec("diagnose", "Diagnose", "stethoscope", "diagnose_tab", "DiagnoseTab"),
    TabSpec("hardware", "Hardware", "cpu", "hardware_tab", "HardwareTab"),
    TabSpec("fit", "Fit", "table-2", "fit_tab", "FitTab"),
    TabSpec("offload", "Offload", "layers", "offload_tab", "OffloadTab"),
    TabSpec("logs", "Logs", "file-text", "logs_tab", "LogsTab"),
    TabSpec("benchmark", "Benchmark", "gauge", "benchmark_tab", "BenchmarkTab"),
)
# which tab shows a file of this kind (app.gguf.sniff.FileKind values)
_TAB_FOR_KIND = {
    "gguf": "offload",
    "log": "logs",
    "bench": "benchmark",
    "evidence": "diagnose",
}


class MainWindow(QMainWindow):
    """Composes the window; everything shown comes from the session."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.detection = Detection(session)
        self._tabs: dict[str, Page] = {}
        self.setObjectName("mainWindow")
        self.setWindowTitle(product.NAME)
        self.setMinimumSize(1024, 700)
        self.resize(1280, 800)
        self.setAcceptDrops(True)
        self._make_toolbar()
        self._make_body()
        self._make_shortcuts()
        self.statusBar().setSizeGripEnabled(False)
        session.evidence_changed.connect(self._on_evidence_changed)
        session.llama_folder_changed.connect(self._on_evidence_changed)
        session.opened.connect(self._on_opened)
        session.log_found.connect(self._on_log_found)
        session.message.connect(self._on_message)
        session.error.connect(self._on_error)
        self.show_tab("diagnose")
        self._on_evidence_changed()

    def show_tab(self, name: str) -> Page:
        """Show a tab, building it on first use."""
        index = [spec.id for spec in TABS].index(name)
        if self._nav.currentIndex() != index:
            self._nav.setCurrentIndex(index)  # comes back here through the signal
            return self._tabs[name]
        if name not in self._tabs:
            self._build(TABS[index])
        self._pages.setCurrentWidget(self._tabs[name])
        return self._tabs[name]

    def tab(self, name: str) -> Page | None:
        """Return a tab that has been built."""
        return self._tabs.get(name)

    @property
    def current_tab(self) -> str:
        """Return the id of the tab that is shown."""
        return TABS[self._nav.currentIndex()].id

    def _build(self, spec: TabSpec) -> None:
        module = importlib.import_module(f"app.ui.tabs.{spec.module}")
        tab = cast(Page, getattr(module, spec.class_name)(self.session, self.detection))
        self._tabs[spec.id] = tab
        self._pages.addWidget(tab)
        tab.tab_wanted.connect(self.show_tab)
        tab.open_wanted.connect(self.choose_files)
        tab.export_wanted.connect(self.export_report)
        tab.line_wanted.connect(self._on_line_wanted)

    def _on_nav(self, index: int) -> None:
        self.show_tab(TABS[index].id)

    def _on_line_wanted(self, line: int) -> None:
        self.show_tab("logs").show_line(line)

    def choose_files(self) -> None:
        """Ask for files and open them by what they hold."""
        title = self.tr("Open a model, a log, a benchmark or an evidence file")
        if names := choose.files(self, self.session, title):
            self.session.open_paths(names)

    def export_report(self) -> None:
        """Ask where to, and write the report."""
        from app.ui.export import export_report  # PDF code is loaded when it is needed

        export_report(self, self.session)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept local files on the whole window; say in words why something is refused."""
        paths = _local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.statusBar().showMessage(self.tr("Drop to open"))
        else:
            self.statusBar().showMessage(self.tr("Only files of this computer can be dropped"))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Take the hint away."""
        self.statusBar().clearMessage()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        paths = _local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            # after the drop has ended: the source waits for it
            QTimer.singleShot(0, self, lambda: self.session.open_paths(paths))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop all work before the window goes."""
        for tab in self._tabs.values():
            tab.stop()
        self.session.stop_all_and_wait()
        super().closeEvent(event)

    def _on_opened(self, kind: str) -> None:
        self._banner.hide()  # what could not be opened before is no longer the question
        name = _TAB_FOR_KIND.get(kind)
        if name is None or (kind == "gguf" and self.current_tab in ("diagnose", "fit")):
            return  # the start page fills its drop area and links on
        self.show_tab(name)

    def _on_log_found(self) -> None:
        self.show_tab("logs")  # its lines show while it is read

    def _on_evidence_changed(self) -> None:
        self._toolbar.show_evidence(self.session.evidence)

    def _on_message(self, text: str) -> None:
        self.statusBar().showMessage(text, 8000)

    def _on_error(self, error: UserError) -> None:
        self._banner.show_error(error)

    def _on_theme(self, choice: str) -> None:
        self.session.settings.set(THEME, choice)
        self._toolbar.show_theme(choice)
        theme.apply(cast(QApplication, QApplication.instance()), choice)

    def _on_about(self) -> None:
        from app.ui.about import show_about  # the licences are read when they are asked for

        show_about(self)

    def _make_toolbar(self) -> None:
        self._toolbar = MainToolBar()
        self._toolbar.open_wanted.connect(self.choose_files)
        self._toolbar.export_wanted.connect(self.export_report)
        self._toolbar.theme_chosen.connect(self._on_theme)
        self._toolbar.about_wanted.connect(self._on_about)
        self._toolbar.show_theme(self.session.settings.get(THEME))
        self.addToolBar(self._toolbar)

    def _make_body(self) -> None:
        body = QWidget()
        layout = QHBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        panel = NavPanel()
        self._nav = panel.bar
        for spec in TABS:
            self._nav.add(self.tr(spec.title), spec.icon)
        self._nav.currentChanged.connect(self._on_nav)
        layout.addWidget(panel)
        right = QVBoxLayout()
        right.setSpacing(0)
        self._banner = Banner()
        self._pages = QStackedWidget()
        right.addWidget(self._banner)
        right.addWidget(self._pages, 1)
        layout.addLayout(right, 1)
        self.setCentralWidget(body)

    def _make_shortcuts(self) -> None:
        for i, spec in enumerate(TABS):
            action = QAction(self.tr(spec.title), self)
            action.setShortcut(QKeySequence(f"Ctrl+{i + 1}"))
            action.triggered.connect(lambda _checked, index=i: self._nav.setCurrentIndex(index))
            self.addAction(action)
        opening = QAction(self.tr("Open…"), self)
        opening.setShortcut(QKeySequence.StandardKey.Open)
        opening.triggered.connect(self.choose_files)
        self.addAction(opening)


def _local_paths(data: QMimeData) -> list[str]:
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
