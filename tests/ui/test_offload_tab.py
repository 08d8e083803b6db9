"""The Offload tab on a real model."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QSlider
from pytestqt.qtbot import QtBot

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.machine import Device, DeviceKind, Machine
from app.core.reading import Kind
from app.gguf.model import read_model
from app.ui.tabs.offload_tab import OffloadTab
from app.ui.widgets.fixed_text import FixedText
from app.ui.widgets.layer_map import LayerMap
from app.ui.widgets.slowdown_plot import SlowdownPlot
from app.work.detection import Detection
from app.work.notebook import Entry, Notebook
from app.work.session import Session
from tests.machines import linux

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
    for ngl, f, s in zip((18, 9), share, slowdown, strict=True):
        # the law over three quarters of bytes and one of layers, to the digits that are shown
        own = 0.75 * f + 0.25 * (20 - ngl) / 19  # this device refuses the output
        assert s == pytest.approx((1 - own) + own * 8.0, abs=0.05)


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
    label = with_gemma.findChild(FixedText, "offloadCommand")
    assert label is not None
    command = label.text()
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


def _kept_run(ngl: str, tps: float, name: str) -> BenchRun:
    return BenchRun(
        Test.GENERATION, 128, (tps, tps * 1.01, tps * 0.99), "llama-bench",
        (("n_gpu_layers", ngl),), model_name=name,
    )  # fmt: skip


def test_r_comes_from_runs_of_an_earlier_day_when_none_was_typed(
    qtbot: QtBot, tab: OffloadTab, session: Session, gemma: Path
) -> None:
    name = read_model(str(gemma)).name
    runs = (_kept_run("0", 10.0, name), _kept_run("99", 60.0, name))
    Notebook().append(Entry("1", "2026-11-30T12:00:00Z", name, runs))
    session.set_machine(Machine(devices=(VULKAN,), devices_source="test"))
    with qtbot.waitSignal(session.opened):
        session.open_paths([str(gemma)])
    qtbot.waitUntil(lambda: tab._ratio() is not None)
    r = tab._ratio()
    assert r is not None and r.kind is Kind.MEASURED
    assert r.value == pytest.approx(6.0, rel=0.01)


def test_r_comes_from_bandwidths_when_nothing_was_measured(
    qtbot: QtBot, tab: OffloadTab, session: Session, gemma: Path
) -> None:
    machine = linux("  Vulkan0: AMD Radeon RX 7900 XTX (RADV NAVI31) (24560 MiB, 24000 MiB free)\n")
    modules = facts.known("memory.bandwidth", 76_800_000_000, source="modules", unit="bytes/s")
    session.set_machine(replace(machine, facts=(*machine.facts, modules)))
    with qtbot.waitSignal(session.opened):
        session.open_paths([str(gemma)])
    qtbot.waitUntil(lambda: tab._ratio() is not None)
    r = tab._ratio()
    assert r is not None and r.kind is Kind.TABLE
    ratio = tab.findChild(QDoubleSpinBox, "slowRatio")
    assert ratio is not None
    ratio.setValue(5.0)  # what a person types comes first
    typed = tab._ratio()
    assert typed is not None and typed.kind is Kind.TYPED


@pytest.mark.real
def test_draws_no_curve_where_no_figure_may_be_shown_between_the_ends(
    with_gemma: OffloadTab, session: Session, qtbot: QtBot
) -> None:
    plot = with_gemma.findChild(SlowdownPlot)
    ratio = with_gemma.findChild(QDoubleSpinBox, "slowRatio")
    assert plot is not None and ratio is not None
    ratio.setValue(8.0)
    qtbot.waitUntil(plot.isVisible)
    software = replace(VULKAN, is_software=True)
    session.set_machine(Machine(devices=(software,), devices_source="test"))
    qtbot.waitUntil(lambda: not plot.isVisible())
