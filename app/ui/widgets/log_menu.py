"""The button that offers the logs on this computer by the names of their programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.core import units
from app.work.jobs import Jobs, Latest
from app.work.log_finder import look_for_logs

if TYPE_CHECKING:
    from app.runtimes.log_places import FoundLogs


class LogMenu(QPushButton):
    """Looks when it is pressed, then shows what was found; emits the path that was chosen."""

    chosen = Signal(str)
    copied = Signal(str)  # a command that writes a log which no file holds

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(jobs)
        self.menu_shown = QMenu(self)
        self.menu_shown.setObjectName("logsHereMenu")
        self.menu_shown.setToolTipsVisible(True)
        self.setObjectName("logsHereButton")
        self.setText(self.tr("Logs on this computer"))
        self.setToolTip(self.tr("Look where Ollama, LM Studio, Jan and llama.cpp keep their logs"))
        self.clicked.connect(self._on_clicked)

    def stop(self) -> None:
        """Look no more."""
        self._latest.cancel()

    def _on_clicked(self) -> None:
        job = self._latest.start(look_for_logs, name="logs on this computer")
        job.done.connect(self._on_found)

    def _on_found(self, found: FoundLogs) -> None:
        menu = self.menu_shown
        menu.clear()
        for log in found.logs:
            name = log.path.replace("\\", "/").rpartition("/")[2]
            action = menu.addAction(f"{log.source}: {name} ({units.size(log.n_bytes)})")
            action.setToolTip(log.path)
            action.setData(log.path)
            action.triggered.connect(self._on_chosen)
        for command in found.commands:
            action = menu.addAction(self.tr("Ollama's service: copy the command for its log"))
            action.setToolTip(command)
            action.setData(command)
            action.triggered.connect(self._on_command)
        if menu.isEmpty():
            menu.addAction(self.tr("None found. Drop a log, or paste its text")).setEnabled(False)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _on_chosen(self) -> None:
        self.chosen.emit(_data(self.sender()))

    def _on_command(self) -> None:
        command = _data(self.sender())
        QGuiApplication.clipboard().setText(command)
        self.copied.emit(command)


def _data(sender: object) -> str:
    assert isinstance(sender, QAction)
    return str(sender.data())
