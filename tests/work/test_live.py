"""Live readings: only between start and stop, one at a time."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.live import LiveReading
from app.probes.live import LiveMeter
from app.probes.sampler import Counters
from app.work.jobs import Jobs
from app.work.live import Live


class _Meter:
    """Counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def read(self, _pids: frozenset[int]) -> Counters:
        self.asked += 1
        return Counters(float(self.asked))


@pytest.fixture
def jobs(qapp: QCoreApplication) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    assert made.stop_all_and_wait()


def test_reads_at_once_and_again(jobs: Jobs, qtbot: QtBot) -> None:
    live = Live(jobs, LiveMeter(_Meter()))
    seen: list[LiveReading] = []
    live.read.connect(seen.append)
    live.start()
    qtbot.waitUntil(lambda: len(seen) >= 2)
    live.stop()
    assert [reading.at_s for reading in seen[:2]] == [1.0, 2.0]


def test_emits_nothing_after_stop(jobs: Jobs, qtbot: QtBot) -> None:
    meter = _Meter()
    live = Live(jobs, LiveMeter(meter))
    seen: list[LiveReading] = []
    live.read.connect(seen.append)
    live.start()
    live.stop()
    assert jobs.stop_all_and_wait()
    assert not seen
    assert not live.is_running


def test_starting_twice_takes_one_reading(jobs: Jobs, qtbot: QtBot) -> None:
    meter = _Meter()
    live = Live(jobs, LiveMeter(meter))
    live.start()
    live.start()
    with qtbot.waitSignal(live.read):
        pass
    assert meter.asked == 1
    live.stop()
