"""The session: parts arrive together, other people's evidence stays apart."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core import codec
from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.log import LogSummary
from app.core.machine import Machine
from app.core.model import Model, Part
from app.core.request import LoadRequest
from app.work.jobs import Jobs
from app.work.session import Session
from app.work.settings import LLAMA_FOLDER, Settings

DATA = Path(__file__).parents[1] / "data" / "logs"
RUN = BenchRun(Test.GENERATION, 16, (5.0, 5.1), "llama-bench")


def _model(name: str) -> Model:
    part = Part(f"/models/{name}", 1000, 100, 32)
    return Model(name, "llama", 3, False, {}, (), (part,))


@pytest.fixture
def session(qapp: QCoreApplication) -> Iterator[Session]:
    made = Session(Jobs())
    yield made
    assert made.stop_all_and_wait()


@pytest.fixture
def errors(session: Session) -> list[UserError]:
    seen: list[UserError] = []
    session.error.connect(seen.append)
    return seen


def _open(session: Session, qtbot: QtBot, *paths: Path) -> list[str]:
    """Open files, wait for the end and return the kinds that were opened."""
    kinds: list[str] = []
    session.opened.connect(kinds.append)
    job = session.open_paths([str(path) for path in paths])
    assert job is not None
    with qtbot.waitSignal(job.finished):
        pass
    session.opened.disconnect(kinds.append)
    return kinds


def test_says_once_that_the_evidence_changed_when_a_part_is_set(
    session: Session, qtbot: QtBot
) -> None:
    with qtbot.waitSignals([session.evidence_changed, session.diagnosis_changed]):
        session.set_request(LoadRequest(ngl=9))
    with qtbot.assertNotEmitted(session.evidence_changed):
        session.set_request(LoadRequest(ngl=9))
    assert session.evidence.request == LoadRequest(ngl=9)


def test_judges_the_new_evidence_when_it_changed(session: Session) -> None:
    before = session.diagnosis
    session.set_machine(Machine())
    assert session.diagnosis is not before
    assert session.diagnosis is session.diagnosis


def test_lets_go_of_what_was_measured_with_another_model(session: Session) -> None:
    machine = Machine(skipped=("x",))
    session.set_machine(machine)
    session.set_log(LogSummary("a.log", 3), path="/logs/a.log")
    session.set_model(_model("a.gguf"))
    assert session.evidence.log is not None  # a log that came first may belong to the model
    session.add_runs([RUN])
    session.set_model(_model("b.gguf"))
    assert session.evidence == Evidence(model=_model("b.gguf"), machine=machine)
    assert session.log_path == ""


def test_keeps_the_runs_when_the_same_model_is_read_again(session: Session) -> None:
    session.set_model(_model("a.gguf"))
    session.add_runs([RUN])
    session.set_model(_model("a.gguf"))
    assert session.evidence.runs == (RUN,)


def test_makes_one_evidence_of_several_files(session: Session, qtbot: QtBot) -> None:
    changes: list[None] = []
    session.evidence_changed.connect(lambda: changes.append(None))
    kinds = _open(
        session,
        qtbot,
        DATA / "b11434-llama-bench-cpu-jsonl.jsonl",
        DATA / "b11434-llama-bench-rpc-jsonl.jsonl",
    )
    assert kinds == ["bench"]
    assert len(session.evidence.runs) == 4
    assert len(changes) == 1


def test_reads_the_others_when_one_file_cannot_be_read(
    session: Session, qtbot: QtBot, tmp_path: Path, errors: list[UserError]
) -> None:
    empty = tmp_path / "model.gguf"
    empty.touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    bench = DATA / "b11434-llama-bench-cpu-json.json"
    kinds = _open(session, qtbot, empty, tmp_path / "gone.gguf", folder, bench)
    assert kinds == ["bench"]
    assert [error.title for error in errors] == [
        "model.gguf cannot be opened here",
        "gone.gguf is not there",
        "folder cannot be opened here",
    ]
    assert "empty" in errors[0].detail


def test_changes_nothing_when_no_file_can_be_read(
    session: Session, qtbot: QtBot, tmp_path: Path, errors: list[UserError]
) -> None:
    session.set_model(_model("a.gguf"))
    kept = session.evidence
    assert _open(session, qtbot, tmp_path / "gone.log") == []
    assert session.evidence is kept
    assert len(errors) == 1


def test_shows_another_persons_evidence_apart_from_our_own(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    own = Evidence(model=_model("mine.gguf"), machine=Machine(skipped=("mine",)))
    theirs = Evidence(symptom="slow", runs=(RUN,))
    file = tmp_path / "their-evidence.json"
    file.write_bytes(codec.dumps(theirs))
    session.set_evidence(own)
    assert _open(session, qtbot, file) == ["evidence"]
    assert session.evidence == theirs
    assert session.read_only_path == str(file)

    session.set_machine(Machine(skipped=("read again",)))
    assert session.evidence == theirs

    session.return_to_own()
    assert session.evidence == replace(own, machine=Machine(skipped=("read again",)))
    assert session.read_only_path == ""


def test_adds_nothing_to_another_persons_evidence(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "their-evidence.json"
    file.write_bytes(codec.dumps(Evidence(symptom="slow")))
    _open(session, qtbot, file)
    session.add_runs([RUN])
    assert session.evidence == Evidence(runs=(RUN,))


def test_publishes_only_the_newest_request(session: Session, qtbot: QtBot) -> None:
    kinds: list[str] = []
    session.opened.connect(kinds.append)
    bench = str(DATA / "b11434-llama-bench-cpu-json.json")
    jobs = [session.open_paths([bench]) for _ in range(5)]
    last = jobs[-1]
    assert last is not None
    with qtbot.waitSignal(last.finished):
        pass
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
    assert kinds == ["bench"]
    assert len(session.evidence.runs) == 2


def test_opens_nothing_when_no_path_is_given(session: Session) -> None:
    assert session.open_paths([]) is None


def test_remembers_the_folder_of_llama_cpp(session: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.llama_folder_changed) as changed:
        session.set_llama_folder("/opt/llama")
    assert changed.args == ["/opt/llama"]
    assert Settings().get(LLAMA_FOLDER) == "/opt/llama"
    with qtbot.assertNotEmitted(session.llama_folder_changed):
        session.set_llama_folder("/opt/llama")


def test_says_so_when_the_folder_cannot_be_remembered(
    session: Session, errors: list[UserError], tmp_path: Path
) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    session.settings.path = blocker / "settings.json"
    session.set_llama_folder("/opt/llama")
    assert session.llama_folder == "/opt/llama"
    assert errors[0].title == "The folder could not be remembered"


def test_stops_programs_and_jobs_when_the_window_closes(session: Session) -> None:
    process = session.processes.start([sys.executable, "-c", "import time; time.sleep(60)"])
    job = session.jobs.start(lambda cancel, _progress: cancel.wait(60), name="waiting")
    assert session.stop_all_and_wait()
    assert not process.is_running
    assert job.is_cancelled
    assert session.jobs.running() == 0
