"""The Offload tab's sliders: their marks, the best under a margin, experts, several devices."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QSlider, QSpinBox
from pytestqt.qtbot import QtBot

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.machine import Device, DeviceKind, Machine, Program, Runtime
from app.core.model import Model
from app.core.request import SplitMode
from app.core.units import GIB
from app.ui.models import device_choice
from app.ui.tabs.offload_tab import OffloadTab
from app.ui.widgets.fixed_text import FixedText
from app.ui.widgets.layer_map import LayerMap
from app.ui.widgets.position_slider import Mark, PositionSlider
from app.work.detection import Detection
from app.work.session import Session
from tests.truth import models
from tests.truth.params import Params

DENSE = models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B)
MOE = models.build("qwen3-30b-a3b", "qwen3moe", "q4_K_M", Params(
    L=12, e=2048, f=6144, h=32, hk=4, v=32000, ctx=32768, nx=64, nu=8, fx=768,
))  # fmt: skip


def card(number: int, gib: float) -> Device:
    n_bytes = int(gib * GIB)
    return Device(f"CUDA{number}", DeviceKind.CUDA, "a card", n_bytes, n_bytes, "test",
                  is_integrated=False)  # fmt: skip


@pytest.fixture
def tab(qtbot: QtBot, session: Session, detection: Detection) -> OffloadTab:
    """Return the tab in a window of its own."""
    found = OffloadTab(session, detection)
    qtbot.addWidget(found)
    found.resize(1100, 800)
    found.show()
    return found


def fill(tab: OffloadTab, session: Session, qtbot: QtBot, model: Model, *cards: Device) -> None:
    """Show a model on these cards and wait for the marks."""
    memory = facts.known("memory.total", 64 * GIB, source="test", unit="bytes")
    session.set_machine(Machine(facts=(memory,), devices=cards, devices_source="test"))
    session.set_model(model)
    qtbot.waitUntil(lambda: bool(marks(tab, "nglSlider")), timeout=20_000)


def marks(tab: OffloadTab, name: str) -> list[QPushButton]:
    """Return the marks that are shown under a slider."""
    slider = tab.findChild(QSlider, name)
    assert slider is not None
    parent = slider.parentWidget()
    assert parent is not None
    return [one for one in parent.findChildren(QPushButton) if not one.isHidden()]


def value_of(tab: OffloadTab, name: str) -> int:
    slider = tab.findChild(QSlider, name)
    assert slider is not None
    return slider.value()


def number(mark: QPushButton) -> int:
    return int(mark.text().split(":")[0])


def test_marks_have_names_reasons_and_a_click(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    fill(tab, session, qtbot, DENSE, card(0, 4))
    found = {mark.accessibleName().partition(":")[0]: mark for mark in marks(tab, "nglSlider")}
    if len(found) == 1:  # both are the same position
        (mark,) = found.values()
        assert "llama.cpp and best" in mark.text()
    else:
        assert set(found) == {"Layers llama.cpp would choose", "Best number of layers"}
        mark = found["Best number of layers"]
    assert "1,024 MiB free" in mark.toolTip()
    assert 0 < number(mark) < 33
    qtbot.mouseClick(mark, Qt.MouseButton.LeftButton)
    assert value_of(tab, "nglSlider") == number(mark)


def test_the_best_follows_the_margin_and_is_taken_by_one_click(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    fill(tab, session, qtbot, DENSE, card(0, 4))
    before = tab._positions
    margin = tab.findChild(QSpinBox, "margin0")
    assert margin is not None and margin.value() == 1024 and before is not None
    assert margin.accessibleName() == "Keep free on CUDA0, MiB"
    margin.setValue(2048)
    qtbot.waitUntil(lambda: tab._positions is not before, timeout=20_000)
    after = tab._positions
    assert after is not None and before.best.ngl is not None and after.best.ngl is not None
    assert after.best.ngl < before.best.ngl
    button = tab.findChild(QPushButton, "takeBest")
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert value_of(tab, "nglSlider") == after.best.ngl
    command = tab.findChild(FixedText, "offloadCommand")
    assert command is not None and "-fitt 2048" in command.text()


def test_experts_have_a_slider_of_their_own(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    fill(tab, session, qtbot, DENSE, card(0, 4))
    slider = tab.findChild(QSlider, "moeSlider")
    assert slider is not None and not slider.isVisible()
    fill(tab, session, qtbot, MOE, card(0, 3))
    assert slider.isVisible() and slider.maximum() == 12
    found = tab._positions
    assert found is not None and found.best.n_cpu_moe > 0
    button = tab.findChild(QPushButton, "takeBest")
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert slider.value() == found.best.n_cpu_moe
    assert value_of(tab, "nglSlider") == 13
    command = tab.findChild(FixedText, "offloadCommand")
    assert command is not None and f"-ncmoe {found.best.n_cpu_moe}" in command.text()


def test_two_devices_have_a_split_and_a_margin_each(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    fill(tab, session, qtbot, DENSE, card(0, 4), card(1, 4))
    second = tab.findChild(QSpinBox, "margin1")
    shares = tab.findChild(QLineEdit, "tensorSplit")
    mode = tab.findChild(QComboBox, "splitMode")
    assert second is not None and shares is not None and mode is not None
    assert second.isVisible() and shares.isVisible() and mode.isVisible()
    second.setValue(512)
    shares.setText("3,1")
    shares.editingFinished.emit()
    request = tab._choice().request
    assert request.fit_targets_mib == (1024, 512)
    assert request.tensor_split == (3.0, 1.0)
    mode.setCurrentIndex(mode.findData(SplitMode.NONE))
    only = tab.findChild(QComboBox, "mainGpu")
    assert only is not None and only.isVisible() and not shares.isVisible()
    only.setCurrentIndex(1)
    assert (tab._choice().request.split_mode, tab._choice().request.main_gpu) == (
        SplitMode.NONE, 1,
    )  # fmt: skip


def test_shows_rates_that_follow_from_what_was_measured(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    fill(tab, session, qtbot, DENSE, card(0, 24))
    runs = tuple(
        BenchRun(Test.GENERATION, 128, (tps, tps * 1.001, tps * 0.999), "llama-bench",
                 (("n_gpu_layers", ngl),), model_name=DENSE.name, run_id=ngl)
        for ngl, tps in (("0", 8.0), ("99", 80.0))
    )  # fmt: skip
    session.add_runs(runs)
    label = tab.findChild(QLabel, "generationValue")
    assert label is not None
    qtbot.waitUntil(lambda: label.text() == "80.00 tok/s", timeout=20_000)
    slider = tab.findChild(QSlider, "nglSlider")
    assert slider is not None
    slider.setValue(17)
    rate = float(label.text().removesuffix(" tok/s"))
    assert 8 < rate < 30
    prompt = tab.findChild(QLabel, "promptValue")
    assert prompt is not None and prompt.text() == "–"


def test_a_mark_outside_moves_inside(qtbot: QtBot) -> None:
    widget = PositionSlider("one", "One")
    qtbot.addWidget(widget)
    widget.resize(300, 80)
    widget.reset(10, 0)
    widget.show_marks((Mark(10, "a long word at the end", "End", "why"), Mark(0, "x", "Start", "")))
    widget.show()
    for button in widget.findChildren(QPushButton):
        assert button.x() >= 0 and button.x() + button.width() <= widget.width()
    taken: list[int] = []
    widget.moved.connect(taken.append)
    first = widget.findChildren(QPushButton)[0]
    qtbot.keyClick(first, Qt.Key.Key_Space)
    assert taken == [10]
    widget.show_marks(())
    assert not [one for one in widget.findChildren(QPushButton) if one.isVisible()]


@pytest.mark.parametrize(
    ("text", "n", "expected"),
    [("3,1", 2, (3.0, 1.0)), ("3/1", 2, (3.0, 1.0)), ("", 2, ()), ("3,x", 2, ()), ("1,2,3", 2, ()),
     ("0,0", 2, ()), ("-1,2", 2, ())],
)  # fmt: skip
def test_reads_shares_as_they_are_typed(text: str, n: int, expected: tuple[float, ...]) -> None:
    assert device_choice.shares(text, n) == expected


def test_cards_thought_of_are_equal_and_numbered() -> None:
    found = device_choice.cards(8, DeviceKind.CUDA, 2)
    assert [one.id for one in found] == ["CUDA0", "CUDA1"]
    assert found[0] == replace(found[1], id="CUDA0")


def test_a_block_tells_its_tensors_on_hover(
    tab: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    fill(tab, session, qtbot, DENSE, card(0, 8))
    layer_map = tab.findChild(LayerMap, "layerMap")
    assert layer_map is not None
    lines = layer_map.tip(1).splitlines()
    assert lines[0].startswith("Block 0 on CUDA0: weights ")
    down = DENSE.by_name["blk.0.ffn_down.weight"]
    (line,) = [line for line in lines if line.startswith("ffn_down.weight")]
    assert f"{down.n_bytes / (1 << 20):,.2f} MiB" in line
    assert layer_map.tip(0).splitlines()[1].startswith("token_embd.weight")
    assert "output.weight" in layer_map.tip(33)


def test_a_refused_load_ends_the_waiting(tab: OffloadTab, session: Session, qtbot: QtBot) -> None:
    fill(tab, session, qtbot, DENSE, card(0, 4), card(1, 4))
    server = Program("llama-server", "/opt/llama-server")
    own = Runtime("llama.cpp", "llama.cpp", "/opt", "b11434", 11434, (server,), "test")
    cards = (card(0, 4), card(1, 4))
    session.set_machine(Machine(devices=cards, devices_source="test", runtimes=(own,)))
    mode = tab.findChild(QComboBox, "splitMode")
    best, curve = tab.findChild(QLabel, "bestText"), tab.findChild(QLabel, "curveNote")
    assert mode is not None and best is not None and curve is not None
    mode.setCurrentIndex(mode.findData(SplitMode.ROW))
    qtbot.waitUntil(lambda: best.text().startswith("No best position: "), timeout=20_000)
    qtbot.waitUntil(lambda: curve.text().startswith("No curve: "), timeout=20_000)
    assert marks(tab, "nglSlider") == []
    mode.setCurrentIndex(mode.findData(SplitMode.LAYER))
    qtbot.waitUntil(lambda: best.text().startswith("Best with"), timeout=20_000)
