"""The Offload tab on a real model."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QSlider
from pytestqt.qtbot import QtBot

from app.core.machine import Device, DeviceKind, Machine
from app.ui.tabs.offload_tab import OffloadTab
from app.ui.widgets.layer_map import LayerMap
from app.work.detection import Detection
from app.work.session import Session

MIB = 1 << 20
VULKAN = Device(
    "Vulkan0",
    DeviceKind.VULKAN,
    "a card",
    2048 * MIB,
    2048 * MIB,
    "test",
    max_buffer_bytes=128 * MIB,
)


@pytest.fixture
def tab(qtbot: QtBot, session: Session, detection: Detection) -> OffloadTab:
    """Return the tab in a window of its own."""
    found = OffloadTab(session, detection)
    qtbot.addWidget(found)
    found.resize(1100, 800)
    found.show()
    return found


@pytest.fixture
def with_gemma(qtbot: QtBot, tab: OffloadTab, session: Session, gemma: Path) -> OffloadTab:
    """Return the tab with the real model dropped and the device of the issue."""
    session.set_machine(Machine(devices=(VULKAN,), devices_source="test"))
    with qtbot.waitSignal(session.opened):
        session.open_paths([str(gemma)])
    return tab


def text_of(tab: OffloadTab, name: str) -> str:
    label = tab.findChild(QLabel, name)
    assert label is not None
    return label.text()


def slider_of(tab: OffloadTab) -> QSlider:
    slider = tab.findChild(QSlider, "nglSlider")
    assert slider is not None
    return slider


def test_says_what_to_do_when_no_model_was_dropped(tab: OffloadTab) -> None:
    assert tab.is_empty_state


@pytest.mark.real
def test_slider_changes_share_and_slowdown_when_it_moves(with_gemma: OffloadTab) -> None:
    ratio = with_gemma.findChild(QDoubleSpinBox, "slowRatio")
    assert ratio is not None
    ratio.setValue(8.0)
    slider = slider_of(with_gemma)
    assert slider.maximum() == 19
    slider.setValue(18)
    first = text_of(with_gemma, "shareValue"), text_of(with_gemma, "slowdownValue")
    slider.setValue(9)
    second = text_of(with_gemma, "shareValue"), text_of(with_gemma, "slowdownValue")
    share = [float(value[0].removesuffix(" %")) / 100 for value in (first, second)]
    slowdown = [float(value[1].removesuffix("×")) for value in (first, second)]
    assert share[0] < share[1]
    for f, s in zip(share, slowdown, strict=True):
        # the law: (1 - f) + f x r, to the digits that are shown
        assert s == pytest.approx((1 - f) + f * 8.0, abs=0.01)


@pytest.mark.real
def test_slider_moves_by_keyboard_when_it_has_the_focus(
    with_gemma: OffloadTab, qtbot: QtBot
) -> None:
    slider = slider_of(with_gemma)
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert text_of(with_gemma, "nglValue") == "0 of 19"
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert text_of(with_gemma, "nglValue") == "1 of 19"
    assert "0 of 18 blocks" in slider.accessibleDescription()


@pytest.mark.real
def test_shows_no_slowdown_number_when_r_is_not_known(with_gemma: OffloadTab) -> None:
    slider_of(with_gemma).setValue(9)
    assert text_of(with_gemma, "slowdownValue") == "–"


@pytest.mark.real
def test_keeps_the_cache_on_the_host_bar_when_layers_stay_there(with_gemma: OffloadTab) -> None:
    slider_of(with_gemma).setValue(9)
    bars = with_gemma._bars
    sentences = [bar.accessibleDescription() for _title, _headline, bar in bars._rows]
    assert "Weights 29.3 MiB" in sentences[0]
    assert "KV cache 23.0 MiB" in sentences[0]
    assert "KV cache 26.5 MiB" in sentences[1]


@pytest.mark.real
def test_command_names_what_is_set_when_the_context_changes(with_gemma: OffloadTab) -> None:
    slider_of(with_gemma).setValue(9)
    box = with_gemma.findChild(QComboBox, "context")
    assert box is not None
    box.setCurrentIndex(box.findData(8192))
    command = text_of(with_gemma, "offloadCommand")
    assert command.startswith("llama-server -m ")
    assert command.endswith("-ngl 9 -c 8192")


@pytest.mark.real
def test_clicking_a_block_offloads_down_to_it(with_gemma: OffloadTab, qtbot: QtBot) -> None:
    layer_map = with_gemma.findChild(LayerMap, "layerMap")
    assert layer_map is not None
    layer_map.layer_clicked.emit(11)  # the cell of block 10
    assert slider_of(with_gemma).value() == 9


@pytest.mark.real
def test_shows_the_plan_of_a_download_that_was_interrupted(
    qtbot: QtBot, tab: OffloadTab, session: Session, deepseek_header: Path
) -> None:
    with qtbot.waitSignal(session.opened):
        session.open_paths([str(deepseek_header)])
    assert not tab.is_empty_state
    assert slider_of(tab).maximum() == 29
    notices = [label.text() for label in tab.findChildren(QLabel, "warningText")]
    assert any("missing" in text for text in notices)
