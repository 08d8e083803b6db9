"""The card of both words in the Offload tab, with a stand-in for llama-server."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QSlider, QTableView
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.core.machine import Machine, Program, Runtime
from app.core.said import Figure, Part
from app.ui.models.said_model import APART_ROLE, SaidModel
from app.ui.tabs.offload_tab import OffloadTab
from app.ui.widgets.said_card import SaidCard
from app.work.detection import Detection
from app.work.session import Session
from tests.core import small_models
from tests.ui.test_offload_tab import VULKAN
from tests.work.test_dry_pass import SERVER_LOG, stand_in

MIB = 1 << 20


@pytest.fixture
def tab(qtbot: QtBot, session: Session, detection: Detection) -> OffloadTab:
    """Return the tab with a model on the device of the log."""
    found = OffloadTab(session, detection)
    qtbot.addWidget(found)
    found.resize(1100, 800)
    found.show()
    return found


def _machine(program: Program | None) -> Machine:
    runtime = Runtime("llama.cpp", "llama.cpp", "", None, 10434, (program,) if program else (), "")
    return Machine(devices=(VULKAN,), runtimes=(runtime,), devices_source="test")


def _card(tab: OffloadTab) -> SaidCard:
    card = tab.findChild(SaidCard)
    assert card is not None
    return card


def _button(tab: OffloadTab) -> QPushButton:
    button = tab.findChild(QPushButton, "askLlama")
    assert button is not None
    return button


def _column(tab: OffloadTab, column: int) -> list[str]:
    table = tab.findChild(QTableView, "saidTable")
    assert table is not None
    model = table.model()
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def test_asks_by_itself_and_shows_both_words(
    tab: OffloadTab, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    session.set_machine(_machine(stand_in(tmp_path, SERVER_LOG)))
    session.set_model(small_models.llama(width=1024))
    qtbot.waitUntil(lambda: session.evidence.said is not None, timeout=20_000)
    said = _column(tab, 4)
    assert "29 MiB" in said  # of the log, and far from this other model's
    assert "differs" in _column(tab, 5)
    assert "is marked" in _card(tab).note
    # never hidden: the evidence keeps the difference too
    assert session.evidence.said is not None
    assert any(text.startswith("Vulkan0 weights") for text in session.evidence.said.differences)
    tab.stop()


def test_forgets_the_answer_when_the_slider_moves(
    tab: OffloadTab, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    session.set_machine(_machine(stand_in(tmp_path, SERVER_LOG)))
    session.set_model(small_models.llama(width=1024))
    qtbot.waitUntil(lambda: session.evidence.said is not None, timeout=20_000)
    slider = tab.findChild(QSlider, "nglSlider")
    assert slider is not None
    slider.setValue(1)
    assert set(_column(tab, 4)) == {"–"}
    qtbot.mouseClick(_button(tab), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: set(_column(tab, 4)) != {"–"}, timeout=20_000)
    tab.stop()


def test_stops_asking_by_the_same_button(
    tab: OffloadTab, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    session.set_machine(_machine(stand_in(tmp_path, SERVER_LOG, change="lines = []")))
    session.set_model(small_models.llama(width=1024))
    qtbot.mouseClick(_button(tab), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.processes.running() == 1, timeout=20_000)
    assert _button(tab).text() == "Stop"
    qtbot.mouseClick(_button(tab), Qt.MouseButton.LeftButton)
    assert _card(tab).note == "Stopped."
    qtbot.waitUntil(lambda: session.processes.running() == 0, timeout=20_000)
    tab.stop()


def test_says_what_is_missing_when_there_is_nobody_to_ask(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    session.set_machine(_machine(None))
    session.set_model(small_models.llama(width=1024))
    assert _card(tab).note == "No llama-server was found on this computer to ask."
    assert not _button(tab).isEnabled()


def test_names_what_llama_cpp_would_choose_and_takes_it(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    session.set_machine(_machine(None))
    session.set_model(small_models.llama(blocks=8, width=4096))
    # 8 blocks of 224 MiB do not leave 1024 of 2048 MiB free
    qtbot.waitUntil(lambda: "would load" in _card(tab).fit, timeout=20_000)
    slider, take = tab.findChild(QSlider, "nglSlider"), tab.findChild(QPushButton, "takeFit")
    assert slider is not None and take is not None
    qtbot.mouseClick(take, Qt.MouseButton.LeftButton)
    assert f"would load {slider.value()} of 9 layers" in _card(tab).fit
    assert 0 < slider.value() < 9


def test_model_keeps_qt_contract(qtmodeltester: ModelTester) -> None:
    model = SaidModel()
    qtmodeltester.check(model)
    figures = (
        Figure("Host", Part.WEIGHTS, 5 * MIB, 5 * MIB, 5 * MIB, 5),
        Figure("Host", Part.COMPUTE, 5 * MIB, 4 * MIB, 6 * MIB, 90),
        Figure("AMX", Part.CONTEXT, 0, 0, 0, 0),
    )
    model.show_figures(figures)
    qtmodeltester.check(model)
    assert model.rowCount() == 2  # what is nothing on both sides is left out
    assert [model.index(row, 0).data(APART_ROLE) for row in range(2)] == [False, True]
