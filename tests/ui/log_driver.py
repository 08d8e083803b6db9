"""How tests find the parts of the Logs tab and open a log in it."""

from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.ui.tabs.logs_tab import LogsTab
from app.ui.widgets.log_view import LogView
from app.work.session import Session

PARTIAL = Path(__file__).parents[1] / "data" / "logs" / "b10434-vulkan-partial-ngl9-lv4.log"
T = TypeVar("T", bound=QObject)


def child(parent: QWidget, kind: type[T], name: str) -> T:
    """Return the part with this object name."""
    found = parent.findChild(kind, name)
    assert found is not None, name
    return found


def text_of(tab: LogsTab, name: str) -> str:
    """Return a label's text."""
    return child(tab, QLabel, name).text()


def view_of(tab: LogsTab) -> LogView:
    """Return the view of the log's lines."""
    return child(tab, LogView, "logView")


def show_rows(tab: LogsTab, name: str) -> None:
    """Choose which rows are shown, as a user does in the box."""
    child(tab, QComboBox, "logRows").setCurrentText(name)


def open_log(tab: LogsTab, session: Session, qtbot: QtBot, path: Path = PARTIAL) -> LogView:
    """Open a log, wait until its lines are marked, and return the view."""
    session.open_paths([str(path)])
    qtbot.waitUntil(lambda: session.log_path == str(path) and session.jobs.running() == 0)
    assert not tab.is_empty_state
    return view_of(tab)
