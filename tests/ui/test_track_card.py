"""A measurement's window in the Hardware tab: charts and limits from the evidence."""

from dataclasses import replace

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core import codec
from app.core.evidence import Evidence
from app.core.live import LiveReading, ProcessReading
from app.core.live_track import track_of
from app.ui.models import live_model
from app.ui.models.live_history import History
from app.ui.widgets.strip_chart import StripChart, runs
from app.ui.widgets.track_card import TrackCard
from tests.live_recordings import readings


def test_shows_what_the_evidence_holds_with_the_time_of_the_measurement(
    qapp: QApplication, qtbot: QtBot
) -> None:
    server = ProcessReading(4711, "llama.cpp: llama-bench", "llama-bench", 1.0, 1 << 30)
    found = tuple(replace(reading, processes=(server,)) for reading in readings())
    data = codec.dumps(Evidence(track=track_of(found, "NVML")))
    card = TrackCard()
    qtbot.addWidget(card)
    assert card.isHidden()
    card.show_track(codec.loads(data).track)
    assert [row.when for row in card._events.model.rows] == [
        "at 35 s",
        "at 34 s",
        "at 31 s",
        "at 12 s",
    ]
    charts = {chart.accessibleName(): chart.strip for chart in card.findChildren(StripChart)}
    assert "llama.cpp: llama-bench: Resident memory" in charts
    clocks = charts["GPU 0: NVIDIA GeForce RTX 3090: Clocks"]
    assert clocks is not None
    assert clocks.ticks[0][1] == "0 s"
    assert len(clocks.marks) == 2
    assert clocks.source == "NVML"
    card.show_track(None)
    assert card.isHidden()


def test_a_long_measurement_is_thinned_but_not_torn() -> None:
    long = tuple(LiveReading(i / 2, cpu_share=0.5) for i in range(7200))
    track = track_of(long)
    assert track is not None
    cpu = live_model.groups(History.of_track(track))[0].strips[0]
    assert len(runs(cpu.traces[0])) == 1
    assert cpu.span_s > 3500


def test_a_track_without_a_moment_is_no_fault(qapp: QApplication, qtbot: QtBot) -> None:
    card = TrackCard()
    qtbot.addWidget(card)
    track = track_of((LiveReading(5.0),))
    assert track is not None
    card.show_track(track)
    card.show_track(replace(track, times_s=()))
    assert card.findChildren(StripChart)
