"""The live panel: charts come and go with what is there, events are listed and heard."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint
from PySide6.QtGui import QAccessible, QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QListView, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.core.live import LiveReading, ProcessReading
from app.probes.live import LiveMeter
from app.probes.sampler import Counters
from app.ui import theme
from app.ui.models.event_model import EventModel, EventRow
from app.ui.widgets import strip_chart
from app.ui.widgets.live_panel import LivePanel
from app.ui.widgets.strip_chart import StripChart
from app.work.jobs import Jobs
from app.work.live import Live
from tests.live_recordings import readings


class _Meter:
    """Time passes, nothing happens."""

    def __init__(self) -> None:
        self._times = itertools.count()

    def read(self, _pids: frozenset[int]) -> Counters:
        return Counters(next(self._times) / 2)


@pytest.fixture
def panel(qapp: QCoreApplication, qtbot: QtBot) -> Iterator[LivePanel]:
    jobs = Jobs()
    live = Live(jobs, LiveMeter(_Meter(), ()))
    made = LivePanel(live)
    qtbot.addWidget(made)
    yield made
    live.stop()
    assert jobs.stop_all_and_wait()


def _names(panel: QWidget) -> list[str]:
    return [chart.accessibleName() for chart in panel.findChildren(StripChart)]


def _emit(panel: LivePanel, *found: LiveReading) -> None:
    for reading in found:
        panel._on_read(reading)


def test_reads_only_while_it_can_be_seen(panel: LivePanel) -> None:
    found = [panel._live.is_running]
    for change in (panel.show, panel.hide):
        change()
        found.append(panel._live.is_running)
    assert found == [False, True, False]


def test_a_gpu_and_a_process_get_charts_when_they_appear_and_lose_them(
    panel: LivePanel, qtbot: QtBot
) -> None:
    assert _names(panel) == [
        f"This computer: {name}" for name in ("CPU in use", "Memory in use", "Swap traffic")
    ]
    server = ProcessReading(7, "Ollama", "ollama serve", 1.0, 5 << 30)
    hot = readings()[60]
    _emit(panel, replace(hot, processes=(server,)), replace(hot, at_s=31.0, processes=(server,)))
    names = _names(panel)
    assert names[3] == "GPU 0: NVIDIA GeForce RTX 3090: In use"
    assert names[-2:] == ["Ollama, process 7: CPU", "Ollama, process 7: Resident memory"]
    headings = [x for x in panel.findChildren(QLabel) if x.objectName() == "groupTitle"]
    assert headings[-1].toolTip() == "ollama serve"
    _emit(panel, LiveReading(32.0))
    qtbot.waitUntil(lambda: len(_names(panel)) == 3)


def test_limits_are_listed_with_their_time_and_heard_on_the_chart(panel: LivePanel) -> None:
    none, view = panel._events._none, panel.findChild(QListView, "liveEvents")
    assert view is not None
    assert none.text() == "No limit was reached while this was shown."
    assert none.isVisibleTo(panel) and not view.isVisibleTo(panel)
    _emit(panel, *readings())
    assert view.isVisibleTo(panel) and not none.isVisibleTo(panel)
    texts = [row.text for row in panel._events.model.rows]
    assert texts[1:] == [
        "GPU 0: memory clock fell from 9,501 to 5,001 MHz: heat (hardware)",
        "GPU 0: temperature at its limit: 93 of 93 °C",
        "GPU 0: power limit reached: 350 W (normal at full load)",
    ]
    clocks = next(
        c for c in panel.findChildren(StripChart) if c.accessibleName().endswith("Clocks")
    )
    heard = QAccessible.queryAccessibleInterface(clocks)
    assert "memory clock fell" in heard.text(QAccessible.Text.Description)


def test_says_under_the_pointer_what_was(panel: LivePanel, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    shown = SimpleNamespace(showText=lambda _where, text, _widget: said.append(text))
    monkeypatch.setattr(strip_chart, "QToolTip", shown)
    panel.resize(900, 700)
    panel.show()
    _emit(panel, *readings())
    chart = next(c for c in panel.findChildren(StripChart) if c.accessibleName().endswith("Power"))
    middle = QPoint(chart.width() // 2, 50)
    QApplication.sendEvent(
        chart, QHelpEvent(QEvent.Type.ToolTip, middle, chart.mapToGlobal(middle))
    )
    (text,) = said
    assert text.startswith("Power 30 s ago: 34")
    assert text.endswith("Source: NVML")


@pytest.mark.parametrize("choice", [theme.LIGHT_NAME, theme.DARK_NAME])
def test_paints_all_of_a_recording(panel: LivePanel, qapp: QApplication, choice: str) -> None:
    theme.apply(qapp, choice)
    panel.resize(900, 700)
    panel.show()
    panel._live.stop()
    _emit(panel, *readings())
    chart = next(c for c in panel.findChildren(StripChart) if c.accessibleName().endswith("Clocks"))
    tokens = theme.tokens_for(chart)
    image = chart.grab().toImage()
    colours = {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }
    assert {tokens.accent, tokens.error, tokens.window} <= colours


def test_the_model_of_events_holds_to_the_rules_of_models(qtmodeltester: ModelTester) -> None:
    model = EventModel()
    qtmodeltester.check(model)
    for number in range(205):
        model.add(EventRow("10:00:00", f"event {number}", number % 2 == 0))
    assert model.rowCount() == 200
    assert model.data(model.index(0)) == "10:00:00   event 204"
    assert model.data(model.index(0), EventModel.NORMAL_ROLE) is True
    model.show_rows((EventRow("at 3 s", "one"),))
    assert model.data(model.index(0)) == "at 3 s   one"
    assert model.data(model.index(5)) is None
