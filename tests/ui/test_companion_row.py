"""A draft model beside the model: chosen in the Offload tab, it counts in the bars."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.core.beside import Companion, Kind
from app.core.machine import Device, DeviceKind, Host
from app.core.placement import place, prepare
from app.core.request import LoadRequest
from app.core.units import GIB
from app.gguf.model import read_model
from app.ui import choose
from app.ui.models.offload_model import Choice, offload_view
from app.ui.widgets.companion_row import CompanionRow
from app.work.session import Session
from tests.truth import models

CUDA = Device("CUDA0", DeviceKind.CUDA, "", 24 * GIB, 24 * GIB, "test")
LARGE = models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B)


@pytest.fixture
def row(qtbot: QtBot, session: Session) -> CompanionRow:
    """Return the row."""
    found = CompanionRow(session)
    qtbot.addWidget(found)
    return found


def button(row: CompanionRow, name: str) -> QPushButton:
    found = row.findChild(QPushButton, name)
    assert found is not None
    return found


def test_a_chosen_draft_is_read_and_can_be_taken_out(
    qtbot: QtBot, row: CompanionRow, gemma: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "files", lambda *_args: [str(gemma)])
    with qtbot.waitSignal(row.changed):
        button(row, "draftFile").click()
    (found,) = row.companions
    assert (found.kind, found.model.path) == (Kind.DRAFT, str(gemma))
    assert button(row, "draftFile").text() == "Take out the draft model"
    with qtbot.waitSignal(row.changed):
        button(row, "draftFile").click()
    assert row.companions == ()


def test_a_language_model_is_no_projector(qtbot: QtBot, row: CompanionRow, gemma: Path) -> None:
    row.take(Kind.PROJECTOR, str(gemma))
    note = row.findChild(QLabel, "errorText")
    assert note is not None
    qtbot.waitUntil(lambda: "is no projector" in note.text())
    assert row.companions == ()


def test_a_file_that_cannot_be_read_is_told(
    qtbot: QtBot, row: CompanionRow, tmp_path: Path
) -> None:
    row.take(Kind.DRAFT, str(tmp_path / "gone.gguf"))
    note = row.findChild(QLabel, "errorText")
    assert note is not None
    qtbot.waitUntil(lambda: "gone.gguf" in note.text())


def test_the_bars_count_what_lies_beside_the_model(gemma: Path) -> None:
    draft = read_model(gemma)
    request, host = LoadRequest(ctx=4096), Host()
    alone = Choice(request, (CUDA,), host, None, build=11434)
    both = Choice(
        request, (CUDA,), host, None, build=11434, companions=(Companion(Kind.DRAFT, draft),)
    )
    before, after = (offload_view(prepare(LARGE), one, "a.gguf") for one in (alone, both))
    parts = {part.name: part for part in after.bars[0].bar.segments}
    assert "Draft model" not in {part.name for part in before.bars[0].bar.segments}
    own = place(prepare(draft), (CUDA,), host, request, build=11434).rows[0].total_bytes
    width = CUDA.total_bytes or 0
    assert parts["Draft model"].share * width == pytest.approx(own)
    assert before.bars[0].headline != after.bars[0].headline
    assert any(note.startswith("Draft model") and "-md" in note for note in after.notes)


def test_the_command_names_what_lies_beside_the_model(gemma: Path) -> None:
    draft = Companion(Kind.DRAFT, read_model(gemma))
    choice = Choice(LoadRequest(ctx=4096), (CUDA,), Host(), None, build=11434, companions=(draft,))
    view = offload_view(prepare(LARGE), choice, "a.gguf")
    assert f"-md {gemma} --spec-type draft-simple" in view.command


def test_a_draft_that_cannot_be_placed_leaves_the_plan(gemma: Path) -> None:
    wrong = replace(read_model(gemma), keys={})
    choice = Choice(
        LoadRequest(ctx=4096), (CUDA,), Host(), None, build=11434,
        companions=(Companion(Kind.DRAFT, wrong),),
    )  # fmt: skip
    view = offload_view(prepare(LARGE), choice, "a.gguf")
    alone = offload_view(prepare(LARGE), replace(choice, companions=()), "a.gguf")
    assert view.placed == alone.placed
    (problem,) = view.problems
    assert problem.startswith("Draft model ") and "is not counted: " in problem
