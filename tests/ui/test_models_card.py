"""The list of models: what a file is, what can be said of it, and folders that the user adds."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.core.machine import FoundModel
from app.runtimes.models import Found
from app.ui.models.found_model import FoundModels
from app.ui.widgets.models_card import ModelsCard
from app.work.model_finder import ModelFinder, is_whole
from app.work.session import Session
from app.work.settings import MODEL_FOLDERS, Settings

PROJECTOR = FoundModel("/m/eyes.gguf", "eyes.gguf", 10, "LM Studio", is_projector=True)
DRAFT = FoundModel("/m/small-draft.gguf", "small-draft.gguf", 10, "LM Studio", is_draft=True)
PART = FoundModel("/m/b-00001-of-00003.gguf", "b", 10, "LM Studio", 2, n_parts_expected=3)
PLAIN = FoundModel("/m/plain.gguf", "plain.gguf", 10, "LM Studio")


def test_says_what_a_file_is_and_judges_only_whole_models() -> None:
    model = FoundModels()
    model.show_models((PROJECTOR, DRAFT, PART, PLAIN))
    titles = [model.index(row, 0).data() for row in range(4)]
    assert titles == [
        "eyes.gguf (projector)", "small-draft.gguf (draft)", "b (incomplete)", "plain.gguf",
    ]  # fmt: skip
    assert [model.index(row, 3).data() for row in range(4)] == ["–", "…", "–", "…"]
    tip = model.index(2, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "2 of 3 parts" in tip and PART.path in tip
    assert [is_whole(one) for one in (PROJECTOR, DRAFT, PART, PLAIN)] == [False, True, False, True]


def _paths(args: list[object] | None) -> list[str]:
    found = args[0] if args else None
    assert isinstance(found, Found)
    return [model.path for model in found.models]


def test_looks_into_a_folder_that_the_user_adds_until_it_is_removed(
    qtbot: QtBot, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = str(tmp_path / "own.gguf")
    Path(own).write_bytes(b"GGUF")
    monkeypatch.setattr("app.ui.choose.folder", lambda *_: str(tmp_path))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    card, finder = ModelsCard(with_folders=True), ModelFinder(session)
    qtbot.addWidget(card)
    card.folder_added.connect(finder.add_folder)
    card.folder_removed.connect(finder.remove_folder)
    finder.found.connect(card.show_found)
    add = card.findChild(QPushButton, "addModelFolder")
    assert add is not None
    with qtbot.waitSignal(finder.found) as caught:
        qtbot.mouseClick(add, Qt.MouseButton.LeftButton)
    assert own in _paths(caught.args)
    assert Settings().get(MODEL_FOLDERS).split(os.pathsep) == [str(tmp_path)]
    remove = card.findChild(QPushButton, "removeModelFolder0")
    assert remove is not None and str(tmp_path) in remove.accessibleName()
    with qtbot.waitSignal(finder.found) as caught:
        qtbot.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert own not in _paths(caught.args)
    assert card.findChild(QPushButton, "removeModelFolder0") is None
    finder.stop()


def test_a_card_without_folders_has_no_button(qtbot: QtBot) -> None:
    card = ModelsCard()
    qtbot.addWidget(card)
    card.show_found(Found((PLAIN,), folders=("/a",)))
    add = card.findChild(QPushButton, "addModelFolder")
    assert add is not None and add.isHidden()
    assert card.findChild(QPushButton, "removeModelFolder0") is None
