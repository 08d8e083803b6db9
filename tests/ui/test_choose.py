"""Where the dialogs for files and folders begin."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.core.errors import UserError
from app.ui import choose, export
from app.work.jobs import Jobs
from app.work.session import Session


class Asked:
    """Stands for the dialogs: keeps where they began, gives one answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts: list[str] = []
        self.answer = ""
        monkeypatch.setattr(QFileDialog, "getOpenFileNames", self._files)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", self._file)
        monkeypatch.setattr(QFileDialog, "getExistingDirectory", self._folder)

    def _files(self, _parent: QWidget, _title: str, start: str) -> tuple[list[str], str]:
        self.starts.append(start)
        return [self.answer] if self.answer else [], ""

    def _file(self, _parent: QWidget, _title: str, start: str, _filter: str) -> tuple[str, str]:
        self.starts.append(start)
        return self.answer, ""

    def _folder(self, _parent: QWidget, _title: str, start: str) -> str:
        self.starts.append(start)
        return self.answer


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


def test_begins_in_the_users_folder_and_then_where_the_user_was(
    asked: Asked, qtbot: QtBot, tmp_path: Path
) -> None:
    parent, session = QWidget(), Session(Jobs())
    qtbot.addWidget(parent)
    assert choose.files(parent, session, "Open") == []
    asked.answer = str(tmp_path / "model.gguf")
    assert choose.files(parent, session, "Open") == [asked.answer]
    choose.target(parent, Session(Jobs()), "Export", "report.pdf", "PDF (*.pdf)")
    assert asked.starts == [str(Path.home()), str(Path.home()), str(tmp_path / "report.pdf")]


def test_begins_in_the_users_folder_when_the_last_one_is_gone(
    asked: Asked, qtbot: QtBot, tmp_path: Path
) -> None:
    parent, session = QWidget(), Session(Jobs())
    qtbot.addWidget(parent)
    session.set_folder(tmp_path / "unplugged")
    choose.files(parent, session, "Open")
    assert asked.starts == [str(Path.home())]


def test_chooses_a_folder_from_the_present_one_on(asked: Asked, qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    choose.folder(parent, "Folder")
    choose.folder(parent, "Folder", "/opt/llama")
    assert asked.starts == [str(Path.home()), "/opt/llama"]


def test_remembers_a_folder_to_write_to_only_after_writing(
    asked: Asked, qtbot: QtBot, tmp_path: Path
) -> None:
    parent, session = QWidget(), Session(Jobs())
    qtbot.addWidget(parent)
    before = session.folder
    asked.answer = str(tmp_path / "report.pdf")
    path, _chosen = choose.target(parent, session, "Export", "report.pdf", "PDF (*.pdf)")
    assert session.folder == before
    choose.written(session, Path(path))
    assert session.folder == tmp_path


def test_does_not_remember_the_folder_of_a_report_that_was_not_written(
    asked: Asked, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, session = QWidget(), Session(Jobs())
    qtbot.addWidget(parent)
    monkeypatch.setattr(export, "_ask_names", lambda _parent: False)
    errors: list[UserError] = []
    session.error.connect(errors.append)
    before = session.folder
    asked.answer = str(tmp_path / "gone" / "report.json")
    export.export_report(parent, session)
    assert errors[0].rest().endswith(". Choose another folder.")
    assert session.folder == before
    asked.answer = str(tmp_path / "report.json")
    export.export_report(parent, session)
    assert session.folder == tmp_path
