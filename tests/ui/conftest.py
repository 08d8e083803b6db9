"""The application and the window that tests drive."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui import start, theme
from app.ui.main_window import MainWindow
from app.ui.tabs.logs_tab import LogsTab
from app.work.detection import Detection
from app.work.jobs import Jobs
from app.work.session import Session


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    """Use the product's application class."""
    return start.Application


@pytest.fixture
def session(qapp: QApplication) -> Iterator[Session]:
    """Return a session with its own jobs; nothing runs in it afterwards."""
    theme.apply(qapp, theme.LIGHT_NAME)
    jobs = Jobs()
    found = Session(jobs)
    yield found
    assert jobs.stop_all_and_wait()


@pytest.fixture
def detection(session: Session) -> Detection:
    """Return the detection of the session; it does not start by itself."""
    return Detection(session)


@pytest.fixture
def logs_tab(qtbot: QtBot, session: Session, detection: Detection) -> Iterator[LogsTab]:
    """Return the Logs tab in a window of its own, which is active, so that shortcuts work."""
    found = LogsTab(session, detection)
    qtbot.addWidget(found)
    found.resize(1100, 700)
    found.show()
    found.activateWindow()
    qtbot.waitUntil(found.isActiveWindow)
    yield found
    found.stop()


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> Iterator[MainWindow]:
    """Return the real window, shown; no detection runs unless a test starts it."""
    found = start.make_window(qapp)
    qtbot.addWidget(found)
    found.show()
    qtbot.waitExposed(found)
    yield found
    found.close()
