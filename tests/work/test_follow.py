"""A log is shown while it is read, and followed while it grows, shrinks or goes away."""

import gzip
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core import codec
from app.core.errors import UserError
from app.core.evidence import Evidence, LoadOutcome
from app.core.log import Fact, LogSummary
from app.core.model import Model, Part
from app.work.follow import Follower
from app.work.jobs import Cancel, Cancelled, Jobs
from app.work.log_file import LogFile
from app.work.session import Session

LOGS = Path(__file__).parents[1] / "data" / "logs"
PARTIAL = LOGS / "b10434-vulkan-partial-ngl9-lv4.log"
OFFLOADED = b"load_tensors: offloaded 5/19 layers to GPU\n"


@pytest.fixture
def session(qapp: QCoreApplication) -> Iterator[Session]:
    made = Session(Jobs())
    yield made
    assert made.stop_all_and_wait()


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_bytes(b"one\ntwo\n")
    return path


def _open(session: Session, qtbot: QtBot, *paths: Path) -> None:
    job = session.open_paths([str(path) for path in paths])
    assert job is not None
    with qtbot.waitSignal(job.finished):
        pass


def _follow(session: Session) -> Follower:
    follower = Follower(session, session)
    follower.follow(session.log_file)
    follower.set_active(True)
    assert follower.is_active
    return follower


def test_hands_a_log_on_before_it_is_read(session: Session, qtbot: QtBot) -> None:
    states: list[tuple[bool, str]] = []
    session.log_found.connect(
        lambda: states.append((session.log_file is not None, session.log_path))
    )
    _open(session, qtbot, PARTIAL)
    assert states == [(True, "")]
    assert session.log_path == str(PARTIAL)
    assert session.log_file is not None
    assert session.log_file.index.n_lines == 225


def test_keeps_the_lines_on_show_when_reading_is_cancelled(
    session: Session, qtbot: QtBot, growing: Path
) -> None:
    job = session.open_paths([str(growing)])
    assert job is not None
    session.log_found.connect(job.cancel)
    with qtbot.waitSignal(job.finished):
        pass
    assert session.log_file is not None
    assert session.log_path == ""
    assert session.evidence.log is None


def test_shows_no_log_when_another_model_is_chosen(session: Session, qtbot: QtBot) -> None:
    part = Part("/models/a.gguf", 1000, 100, 32)
    session.set_model(Model("a.gguf", "llama", 3, False, {}, (), (part,)))
    _open(session, qtbot, PARTIAL)
    other = replace(part, path="/models/b.gguf")
    with qtbot.waitSignal(session.log_file_changed):
        session.set_model(Model("b.gguf", "llama", 3, False, {}, (), (other,)))
    assert session.log_file is None


def test_comes_back_to_our_own_log_from_another_persons_evidence(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    _open(session, qtbot, PARTIAL)
    theirs = tmp_path / "their-evidence.json"
    theirs.write_bytes(codec.dumps(Evidence(symptom="slow")))
    _open(session, qtbot, theirs)
    assert session.log_file is None
    with qtbot.waitSignals([session.evidence_changed, session.log_file_changed]):
        session.return_to_own()
    assert session.log_path == str(PARTIAL)
    assert session.log_file is not None


def test_says_that_the_screen_changes_when_leaving_to_equal_evidence(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    theirs = tmp_path / "their-evidence.json"
    theirs.write_bytes(codec.dumps(Evidence(symptom="slow")))
    _open(session, qtbot, theirs)
    with qtbot.waitSignal(session.evidence_changed):
        session.set_log(None)  # which our own evidence has not, either
    assert session.evidence == Evidence()


def test_reads_on_when_the_log_grows(session: Session, qtbot: QtBot, growing: Path) -> None:
    _open(session, qtbot, growing)
    follower = _follow(session)
    with growing.open("ab") as file:
        file.write(OFFLOADED)
    with qtbot.waitSignals([follower.lines_added, session.evidence_changed]):
        follower.look()
    log = session.evidence.log
    assert log is not None
    assert (log.n_lines, log.all(Fact.OFFLOADED)[0].line) == (3, 3)
    follower.set_active(False)


def test_begins_anew_when_the_log_is_cut_or_replaced(
    session: Session, qtbot: QtBot, growing: Path, tmp_path: Path
) -> None:
    _open(session, qtbot, growing)
    follower = _follow(session)
    growing.write_bytes(b"new\n")
    with qtbot.waitSignal(session.evidence_changed):
        follower.look()
    assert session.log_file is not None
    assert session.log_file.n_restarts == 1
    assert session.log_file.index.lines(0, 9) == ["new"]

    other = tmp_path / "other"
    other.write_bytes(b"a longer file\n" + OFFLOADED)
    other.replace(growing)
    with qtbot.waitSignal(session.evidence_changed):
        follower.look()
    assert session.log_file.n_restarts == 2
    log = session.evidence.log
    assert log is not None
    assert log.all(Fact.OFFLOADED)[0].line == 2
    follower.set_active(False)


def test_says_so_when_the_log_goes_away(session: Session, qtbot: QtBot, growing: Path) -> None:
    _open(session, qtbot, growing)
    follower = _follow(session)
    growing.unlink()
    with qtbot.waitSignal(follower.lost) as lost:
        follower.look()
    assert lost.args is not None
    assert isinstance(lost.args[0], UserError)
    assert lost.args[0].title == "server.log is not there any more"
    follower.set_active(False)


def test_keeps_a_guided_runs_reading_until_its_log_grows(
    session: Session, qtbot: QtBot, growing: Path
) -> None:
    outcome = LoadOutcome(("llama-server",), "llama-server", True, "")
    given = Evidence(log=LogSummary("console", 2), outcome=outcome)
    session.set_evidence(given, log_path=str(growing))
    follower = Follower(session, session)
    follower.follow(session.log_file)
    with qtbot.waitSignal(follower.lines_added):
        follower.set_active(True)
    assert session.evidence == given
    assert session.log_file is not None
    assert session.log_file.index.n_lines == 2
    with growing.open("ab") as file:
        file.write(OFFLOADED)
    with qtbot.waitSignal(session.evidence_changed):
        follower.look()
    assert session.evidence.outcome == outcome
    assert session.evidence.log is not None
    assert session.evidence.log.n_lines == 3
    follower.set_active(False)


def test_does_not_read_a_log_twice_when_nothing_was_written(growing: Path) -> None:
    file = LogFile(growing)
    assert file.is_changed()
    assert file.read(Cancel()) is not None
    assert not file.is_changed()
    os.utime(growing, ns=(1, 1))
    assert file.is_changed()
    assert file.read(Cancel()) is None


def test_reads_on_where_a_cancelled_reading_stopped(growing: Path) -> None:
    growing.write_bytes(b"x" * 99 + b"\n" + OFFLOADED)
    file, cancel = LogFile(growing), Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        file.read(cancel)
    assert not file.is_read
    summary = file.read(Cancel())
    assert summary is not None
    assert summary.all(Fact.OFFLOADED)[0].line == 2


def test_drops_the_unpacked_copy_when_closed(tmp_path: Path) -> None:
    packed = tmp_path / "old.log.gz"
    packed.write_bytes(gzip.compress(b"one\ntwo\n"))
    file = LogFile(packed)
    assert file.read(Cancel()) is not None
    assert file.index.lines(0, 9) == ["one", "two"]
    file.close()
    assert file.index.lines(0, 9) == ["", ""]
