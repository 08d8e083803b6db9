"""Detection: says what it asks, can be stopped, and hands the machine to the session."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.host import Basics
from app.work.detection import Detection
from app.work.jobs import Jobs
from app.work.session import Session
from tests.hosts import FakeHost


@pytest.fixture
def session(qapp: QCoreApplication) -> Iterator[Session]:
    made = Session(Jobs())
    yield made
    assert made.stop_all_and_wait()


def test_the_session_gets_the_machine_and_each_step_is_named(
    session: Session, qtbot: QtBot
) -> None:
    host = FakeHost(basics=Basics(os_name="TestOS", arch="x86_64"))
    detection = Detection(session, host=host)
    steps: list[tuple[int, str]] = []
    detection.progress.connect(lambda percent, name: steps.append((percent, name)))
    with qtbot.waitSignal(detection.finished):
        detection.start()
        assert detection.is_running
    machine = session.evidence.machine
    assert machine is not None
    assert machine.text("os.name") == "TestOS"
    names = [name for _percent, name in steps]
    assert {"memory", "NVIDIA", "Ollama", "llama.cpp"} <= set(names)
    percents = [percent for percent, _name in steps]
    assert percents == sorted(percents)
    assert percents[0] == 0
    assert percents[-1] < 100


def test_a_cancelled_detection_keeps_what_was_known(session: Session, qtbot: QtBot) -> None:
    detection = Detection(session, host=FakeHost())
    with qtbot.waitSignal(detection.finished):
        detection.start()
        detection.cancel()
    assert session.evidence.machine is None
    assert not detection.is_running


def test_a_newer_request_ends_the_older_and_finishes_once(session: Session, qtbot: QtBot) -> None:
    detection = Detection(session, host=FakeHost())
    ends: list[None] = []
    detection.finished.connect(lambda: ends.append(None))
    with qtbot.waitSignal(detection.finished):
        detection.start()
        detection.start()
    assert len(ends) == 1
    assert session.evidence.machine is not None
