"""The Hardware tab: what limits the machine, its cards, facts to search and copy, live strips."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.core.machine import Machine
from app.core.machine_text import machine_text
from app.core.overview import overview
from app.ui import theme
from app.ui.models.hardware_model import MISSING_ROLE, FactModel, fact_text, matching
from app.ui.start import Application
from app.ui.tabs.hardware_tab import HardwareTab
from app.ui.widgets.fact_table import FactTable
from app.ui.widgets.live_panel import LivePanel
from app.ui.widgets.runtime_list import RuntimeList
from app.ui.widgets.strip_chart import StripChart
from app.ui.widgets.tile_card import TileCard
from app.work.detection import Detection
from app.work.session import Session
from tests import machines
from tests.hosts import FakeHost

W = TypeVar("W", bound=QWidget)


@pytest.fixture
def tab(qtbot: QtBot, session: Session, detection: Detection) -> Iterator[HardwareTab]:
    """Return the tab in a window of its own."""
    found = HardwareTab(session, detection)
    qtbot.addWidget(found)
    found.resize(1084, 700)
    found.show()
    qtbot.waitExposed(found)
    yield found
    found.stop()


def _child(tab: HardwareTab, kind: type[W], name: str) -> W:
    found = tab.findChild(kind, name)
    assert found is not None
    return found


def _cards(tab: HardwareTab) -> list[str]:
    shown = (card for card in tab.findChildren(TileCard) if card.isVisible())
    return [card.property("tile") for card in shown]


def _reads(tab: HardwareTab) -> bool:
    return tab._live.is_running


def _page(tab: HardwareTab) -> QScrollArea:
    return _child(tab, QScrollArea, "scroll")


def _facts_shown(tab: HardwareTab) -> list[str]:
    model = _child(tab, FactTable, "factTable").model()
    headings = [model.index(row, 0) for row in range(model.rowCount())]
    return [
        str(model.index(row, 0, heading).data())
        for heading in headings
        for row in range(model.rowCount(heading))
    ]


def test_offers_to_look_when_nothing_was_looked_at(tab: HardwareTab) -> None:
    assert tab.is_empty_state
    assert not _child(tab, FactTable, "factTable").isVisible()


def test_the_empty_states_button_looks_and_fills_the_page(
    tab: HardwareTab, detection: Detection, qtbot: QtBot
) -> None:
    detection._host = FakeHost()
    with qtbot.waitSignal(detection.finished):
        tab.action.emit()
    assert not tab.is_empty_state
    qtbot.waitUntil(lambda: _cards(tab) == ["noGpu", "cpu", "memory"])


def test_the_button_stops_a_detection_that_runs(
    tab: HardwareTab, detection: Detection, session: Session, qtbot: QtBot
) -> None:
    detection._host = FakeHost()
    with qtbot.waitSignal(detection.finished):
        tab.action.emit()
        tab.action.emit()
    assert session.evidence.machine is None
    assert tab.is_empty_state


def test_shows_what_limits_the_machine(tab: HardwareTab, session: Session) -> None:
    machine = machines.two_cards()
    session.set_machine(machine)
    assert _child(tab, QLabel, "headline").text() == "2 GPUs with 33.6 GiB free"
    labels = [label for label in tab.findChildren(QLabel) if label.property("sentence") is not None]
    assert [label.text() for label in labels] == [s.text for s in overview(machine).sentences]
    assert "NVML" in labels[0].toolTip()


def test_has_a_card_per_gpu_and_one_each_for_cpu_and_memory(
    tab: HardwareTab, session: Session, qtbot: QtBot
) -> None:
    session.set_machine(machines.two_cards())
    qtbot.waitUntil(lambda: _cards(tab) == ["gpu0", "gpu1", "cpu", "memory"])
    session.set_machine(machines.software_only())
    qtbot.waitUntil(lambda: _cards(tab) == ["noGpu", "cpu", "memory"])


def test_the_search_keeps_the_facts_with_all_words(
    tab: HardwareTab, session: Session, qtbot: QtBot
) -> None:
    session.set_machine(machines.two_cards())
    table = _child(tab, FactTable, "factTable")
    height = table.height()
    assert len(_facts_shown(tab)) > 30
    search = _child(tab, QLineEdit, "factSearch")
    qtbot.keyClicks(search, "4090 memory free")
    assert _facts_shown(tab) == ["Memory free"]
    assert table.height() < height
    search.setText("no such words")
    assert not table.isVisible()
    assert _child(tab, QLabel, "noFact").isVisible()
    search.clear()
    assert table.isVisible()


def test_the_find_key_goes_to_the_search(tab: HardwareTab, session: Session, qtbot: QtBot) -> None:
    session.set_machine(machines.two_cards())
    tab.activateWindow()
    qtbot.waitUntil(tab.isActiveWindow)
    _child(tab, QPushButton, "copyAll").setFocus()
    qtbot.keyClick(tab, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert _child(tab, QLineEdit, "factSearch").hasFocus()


def test_copies_everything_as_text(tab: HardwareTab, session: Session, qtbot: QtBot) -> None:
    machine = machines.two_cards()
    session.set_machine(machine)
    button = _child(tab, QPushButton, "copyAll")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == machine_text(machine)
    assert button.text() == "Copied"


def test_copies_one_fact_with_the_copy_key(
    tab: HardwareTab, session: Session, qtbot: QtBot
) -> None:
    session.set_machine(machines.two_cards())
    table = _child(tab, FactTable, "factTable")
    model = table.model()
    table.setCurrentIndex(model.index(0, 0, model.index(0, 0)))
    fact = table.current_fact()
    assert fact is not None
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == fact_text(fact)


def test_the_page_follows_the_current_row_and_the_wheel(
    tab: HardwareTab, session: Session, qtbot: QtBot
) -> None:
    session.set_machine(machines.two_cards())
    table, bar = _child(tab, FactTable, "factTable"), _page(tab).verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 500)
    assert bar.value() == 0
    model = table.model()
    last = model.index(model.rowCount() - 1, 0)
    table.setCurrentIndex(model.index(0, 0, last))
    reached = bar.value()
    assert reached > 500
    # the current row is in the middle of what is seen, so the wheel turns over the table
    at = QPointF(tab.rect().center())
    below = tab.childAt(at.toPoint())
    assert below is not None
    assert table.isAncestorOf(below)
    QTest.wheelEvent(tab.windowHandle(), at, QPoint(0, 120))
    qtbot.waitUntil(lambda: bar.value() < reached)


def test_detect_again_gives_way_to_cancel_while_it_runs(
    tab: HardwareTab, session: Session, detection: Detection, qtbot: QtBot
) -> None:
    session.set_machine(machines.linux())
    detection._host = FakeHost()
    cancel = _child(tab, QPushButton, "detectCancel")
    again = tab.findChild(QPushButton, "detectAgain")
    assert again is not None
    with qtbot.waitSignal(detection.finished):
        qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
        assert cancel.isVisible()
        assert not again.isVisible()
    assert again.isVisible()
    assert not cancel.isVisible()


def test_the_folder_goes_to_the_session_and_comes_from_it(
    tab: HardwareTab, session: Session, detection: Detection, qtbot: QtBot
) -> None:
    detection._host = FakeHost()
    session.set_machine(machines.linux())
    assert "Choose the folder" in _child(tab, RuntimeList, "runtimeList").text()
    field = _child(tab, QLineEdit, "llamaFolder")
    field.setText(" /opt/llama ")
    with qtbot.waitSignal(detection.finished):  # another folder is looked into at once
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert session.llama_folder == "/opt/llama"
    with qtbot.waitSignal(detection.finished):
        session.set_llama_folder("/opt/other")
    assert field.text() == "/opt/other"


def test_what_could_not_be_read_is_said_above_the_page(tab: HardwareTab, session: Session) -> None:
    session.set_machine(replace(machines.linux(), skipped=("NVIDIA could not be read: x",)))
    texts = [label.text() for label in tab.findChildren(QLabel, "warningText")]
    assert "NVIDIA could not be read: x" in texts


def test_reads_live_values_only_while_it_is_seen(
    tab: HardwareTab, session: Session, qtbot: QtBot
) -> None:
    assert not _reads(tab)
    session.set_machine(machines.linux())
    assert _reads(tab)
    chart = _child(tab, StripChart, "This computer: Memory in use")
    qtbot.waitUntil(lambda: chart.strip is not None and "GiB" in chart.strip.now)
    tab.hide()
    assert not _reads(tab)
    tab.show()
    assert _reads(tab)
    tab.showMinimized()
    qtbot.waitUntil(lambda: not _reads(tab))
    tab.showNormal()
    qtbot.waitUntil(lambda: _reads(tab))


def test_another_persons_machine_has_no_live_values_and_is_not_detected_again(
    tab: HardwareTab, session: Session
) -> None:
    session.set_machine(machines.two_cards())
    session._read_only_path = "/tmp/their-evidence.json"
    session.evidence_changed.emit()
    assert not tab.findChildren(LivePanel)[0].isVisible()
    assert not _reads(tab)
    assert tab.subtitle.text() == "The computer in their-evidence.json"


@pytest.mark.parametrize("make", [machines.two_cards, machines.software_only, Machine])
@pytest.mark.parametrize("scheme", [theme.LIGHT_NAME, theme.DARK_NAME])
def test_paints_any_machine_in_light_and_dark(
    tab: HardwareTab, session: Session, make: type[Machine], scheme: str, qapp: Application
) -> None:
    theme.apply(qapp, scheme)
    session.set_machine(make())
    picture = tab.grab().toImage()
    tokens = theme.DARK if scheme == theme.DARK_NAME else theme.LIGHT
    assert picture.pixelColor(2, 2).name() == tokens.window


def test_the_model_of_facts_is_a_sound_tree(qtmodeltester: ModelTester) -> None:
    model = FactModel()
    model.show_groups(matching(machines.two_cards(), ""))
    qtmodeltester.check(model)
    heading = model.index(0, 0)
    assert model.parent(model.index(0, 1, heading)) == heading
    assert model.rowCount(model.index(0, 0, heading)) == 0
    assert model.fact(heading) is None
    assert model.index(99, 0, QModelIndex()) == QModelIndex()


def test_a_missing_fact_shows_its_reason_its_state_and_how_to_get_it() -> None:
    model = FactModel()
    model.show_groups(matching(machines.linux(), "llama.cpp lists"))
    heading = model.index(0, 0)
    value, state = model.index(0, 1, heading), model.index(0, 3, heading)
    assert "no llama.cpp program was found" in value.data()
    assert "Choose the folder" in value.data()
    assert value.data(MISSING_ROLE) is True
    assert state.data() == "not available"
    assert model.index(0, 0, heading).data(MISSING_ROLE) is False


def test_a_facts_text_has_the_exact_figure() -> None:
    fact = machines.linux().fact("memory.total")
    assert fact is not None
    assert "62.66 GiB (67,276,800,000 bytes)" in fact_text(fact)


def test_nothing_matches_without_a_machine() -> None:
    assert matching(None, "") == ()
