"""The Fit tab on a real model."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QTableView
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.core.fit_table import Verdict
from app.core.machine import Device, DeviceKind, Machine
from app.ui.models.fit_model import VERDICT_ROLE, FitModel
from app.ui.tabs.fit_tab import FitTab
from app.work.detection import Detection
from app.work.session import Session

MIB = 1 << 20


@pytest.fixture
def tab(qtbot: QtBot, session: Session, detection: Detection) -> FitTab:
    """Return the tab in a window of its own."""
    found = FitTab(session, detection)
    qtbot.addWidget(found)
    found.resize(1100, 800)
    found.show()
    return found


@pytest.fixture
def table(qtbot: QtBot, tab: FitTab, session: Session, deepseek_header: Path) -> QTableView:
    """Return the filled table: a 7B model on a card of 8 GiB."""
    card = Device("CUDA0", DeviceKind.CUDA, "a card", 8192 * MIB, 8192 * MIB, "test")
    session.set_machine(Machine(devices=(card,), devices_source="test"))
    session.open_paths([str(deepseek_header)])
    view = tab.findChild(QTableView, "fitTable")
    assert view is not None
    qtbot.waitUntil(lambda: view.model().rowCount() > 0)
    return view


def test_says_what_to_do_when_no_model_was_dropped(tab: FitTab) -> None:
    assert tab.is_empty_state


@pytest.mark.real
def test_names_a_verdict_for_every_quantisation_and_context(table: QTableView) -> None:
    model = table.model()
    verdicts = {
        model.index(row, column).data(VERDICT_ROLE)
        for row in range(model.rowCount())
        for column in range(model.columnCount())
    } - {None}
    assert {Verdict.WHOLE, Verdict.LAYERS} <= verdicts
    assert "this file" in model.index(0, 0).data()
    # 14.2 GiB of F16 cannot be whole on 8 GiB, 4.4 GiB of Q4_K_M can with a short context
    assert model.index(0, 5).data(VERDICT_ROLE) is Verdict.WHOLE
    assert model.index(1, 5).data(VERDICT_ROLE) is Verdict.LAYERS


@pytest.mark.real
def test_shows_each_cache_type_when_all_are_asked_for(
    table: QTableView, tab: FitTab, qtbot: QtBot
) -> None:
    rows = table.model().rowCount()
    box = tab.findChild(QComboBox, "fitCacheTypes")
    assert box is not None
    box.setCurrentIndex(box.findData("all"))
    qtbot.waitUntil(lambda: table.model().rowCount() == 3 * rows)
    assert not table.isColumnHidden(1)


def test_model_keeps_qt_contract_when_empty(qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(FitModel())


@pytest.mark.real
def test_model_keeps_qt_contract_when_filled(table: QTableView, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(table.model())
