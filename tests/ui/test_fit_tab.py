"""The Fit tab on a real model."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSpinBox, QTableView
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.core.fit_table import Cell, FitRow, Verdict
from app.core.machine import Device, DeviceKind, FoundModel, Machine
from app.runtimes.models import Found
from app.ui.models import fit_model
from app.ui.models.fit_model import FIRST_ROWS, VERDICT_ROLE, FitModel
from app.ui.tabs.fit_tab import FitTab
from app.ui.widgets.memory_plot import MemoryPlot
from app.ui.widgets.models_card import ModelsCard
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
    qtbot.waitUntil(lambda: view.model().rowCount() > FIRST_ROWS)
    return view


def test_says_what_to_do_when_no_model_was_dropped(tab: FitTab, qtbot: QtBot) -> None:
    button = tab.findChild(QPushButton, "fitOpen")
    assert button is not None and button.isVisible()
    with qtbot.waitSignal(tab.open_wanted):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    hidden = tab.findChild(QTableView, "fitTable")
    assert hidden is not None and not hidden.isVisible()


def test_shows_a_model_that_is_described_by_its_sizes(
    tab: FitTab, session: Session, qtbot: QtBot
) -> None:
    card = Device("CUDA0", DeviceKind.CUDA, "a card", 24576 * MIB, 24576 * MIB, "test")
    session.set_machine(Machine(devices=(card,), devices_source="test"))
    table, plot = tab.findChild(QTableView, "fitTable"), tab.findChild(MemoryPlot)
    open_form = tab.findChild(QPushButton, "describeModel")
    use = tab.findChild(QPushButton, "useSizes")
    assert table is not None and plot is not None and open_form is not None and use is not None
    qtbot.mouseClick(open_form, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(use, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: table.model().rowCount() > 0, timeout=30_000)
    assert table.isVisible()
    assert table.model().index(0, 0).data() == "Q4_K_M, this file"
    # an 8B in Q4_K_M: 4.6 GiB on the card
    assert str(table.model().index(0, 2).data()).startswith("4.5")
    qtbot.waitUntil(lambda: len(plot.view.lines) == 3, timeout=30_000)
    one, four, _sixteen = plot.view.lines
    assert one.end is None or four.end is None or one.end[0] > four.end[0]
    assert plot.view.limit == 24.0 - 500 / 1024  # the driver's own on a CUDA card
    assert "500 MiB are kept for the driver's own use on CUDA0" in plot.view.sentence
    tip = str(table.model().index(0, 5).data(Qt.ItemDataRole.ToolTipRole))
    assert "Of these 500 MiB are kept for the driver's own use on CUDA0" in tip
    assert "slots: full above" in plot.view.sentence


def test_says_which_sizes_contradict_each_other(tab: FitTab, qtbot: QtBot) -> None:
    heads = tab.findChild(QSpinBox, "sizeHeads")
    use = tab.findChild(QPushButton, "useSizes")
    assert heads is not None and use is not None
    heads.setValue(33)
    use.click()
    texts = [label.text() for label in tab.findChildren(QLabel, "errorText")]
    assert any("33 heads" in text for text in texts)


def test_opens_a_found_model_that_is_chosen(
    tab: FitTab, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[list[str]] = []
    monkeypatch.setattr(session, "open_paths", opened.append)
    found = tab.findChild(ModelsCard)
    assert found is not None
    model = FoundModel("/models/a.gguf", "a", 5 * MIB, "a folder")
    found.show_found(Found((model,), ()))
    table = found.findChild(QTableView, "foundModels")
    assert table is not None
    table.setCurrentIndex(table.model().index(0, 0))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert opened == [["/models/a.gguf"]]


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


def test_names_no_layers_for_a_file_that_does_not_load_at_all() -> None:
    cells = tuple(Cell(ctx, Verdict.NO, 33, ngl=14) for ctx in (2048, 4096))
    row = FitRow("this file", True, "f16", 142 << 30, cells, None, None)
    said = fit_model.sentence((row,))
    assert said.startswith("This file does not fit: its 142 GiB of weights are more than")
    model = FitModel()
    model.show_rows((row, replace(row, file_type="Q4_K_M")))
    assert [model.index(i, 0).data() for i in (0, 1)] == ["this file", "Q4_K_M, this file"]
