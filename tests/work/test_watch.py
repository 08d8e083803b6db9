"""The watch beside a measurement, with readings of our own."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.evidence import MemoryWatch
from app.core.live import GpuReading, LiveReading
from app.probes.live import LiveMeter
from app.probes.sampler import Counters
from app.work.jobs import Jobs
from app.work.live import Live
from app.work.watch import Watch, busy_text, summed_up


class FakeMeter:
    """Gives prepared readings, one a second."""

    def __init__(self) -> None:
        self._now = 0.0
        self.pids: set[int] = set()

    def read(self, pids: frozenset[int]) -> Counters:
        """Return the next reading: 1 MiB/s go to the swap."""
        self._now += 1.0
        self.pids |= pids
        moved = int(self._now) << 20
        return Counters(self._now, swap_in_bytes=0, swap_out_bytes=moved, busy_cpu_s=self._now)


class HotCard:
    """A card that heat holds down in each reading."""

    def read(self) -> tuple[GpuReading, ...]:
        """Return the reading."""
        return (GpuReading("card", busy=0.95, clock_reasons=0x40),)


@pytest.fixture
def meter() -> FakeMeter:
    return FakeMeter()


@pytest.fixture
def watch(qapp: QCoreApplication, meter: FakeMeter) -> Iterator[Watch]:
    jobs = Jobs()
    made = Watch(jobs, meter=meter, live=Live(jobs, LiveMeter(meter, (HotCard(),))))
    yield made
    made.stop()
    assert jobs.stop_all_and_wait()


def test_keeps_the_highest_rates(watch: Watch) -> None:
    watch.start()
    watch.sample()
    watch.sample()
    seen = watch.stop()
    assert seen is not None
    assert seen.memory.n_samples == 2
    assert seen.memory.swap_out_max == 1 << 20
    assert seen.memory.swap_in_max == 0.0


def test_gives_nothing_when_it_was_never_started(watch: Watch) -> None:
    watch.sample()
    assert watch.stop() is None


def test_counts_from_the_first_start(watch: Watch) -> None:
    watch.start()
    watch.sample()
    watch.start()
    seen = watch.stop()
    assert seen is not None and seen.memory.n_samples == 1


def test_samples_by_itself(watch: Watch, qtbot: QtBot) -> None:
    watch.start()
    qtbot.waitUntil(lambda: watch._sampler.result().n_samples >= 1, timeout=5000)


def test_brings_the_gpu_and_the_values_over_time(watch: Watch, qtbot: QtBot) -> None:
    watch.start()
    qtbot.waitUntil(lambda: len(watch._readings) >= 3, timeout=10_000)
    seen = watch.stop()
    assert seen is not None and seen.gpu is not None and seen.track is not None
    assert seen.gpu.n_thermal == seen.gpu.n_samples >= 3
    assert seen.gpu.reasons == ("heat (hardware)",)
    assert [event.text for event in seen.track.events if event.subject == "gpu.0.clock"] == [
        "GPU 0: clock held down: heat (hardware)"
    ]
    assert any(series.subject == "gpu.0.busy" for series in seen.track.series)


def test_counts_the_samples_in_which_the_processor_was_hot() -> None:
    found = tuple(
        LiveReading(i / 2, cpu_throttles=times) for i, times in enumerate((None, 0, 2, 1))
    )
    assert summed_up(MemoryWatch(2.0, 4), found).memory.n_cpu_thermal == 2
    assert summed_up(MemoryWatch(2.0, 4), (LiveReading(0.0),)).memory.n_cpu_thermal is None


@pytest.mark.parametrize(
    ("other", "cores", "words"),
    [
        (1.5, 4, "other programs used up to 1.5 of 4 processor cores"),
        (0.3, 4, ""),
        (None, 4, ""),
        (1.5, None, ""),
    ],
)
def test_says_that_the_computer_was_busy(
    other: float | None, cores: int | None, words: str
) -> None:
    watched = MemoryWatch(5.0, 5, other_cpu_max=other, cores=cores)
    assert busy_text(watched) == words


def test_says_nothing_when_it_was_not_watched() -> None:
    assert busy_text(None) == ""


def test_counts_the_work_of_a_device_by_rpc_as_the_runs_own(
    qapp: QCoreApplication, meter: FakeMeter
) -> None:
    jobs = Jobs()
    live = Live(jobs, LiveMeter(meter, ()))
    watch = Watch(jobs, meter=meter, live=live, also=frozenset({4711}))
    watch.start()
    watch.sample()
    watch.stop()
    assert 4711 in meter.pids
    assert jobs.stop_all_and_wait()
