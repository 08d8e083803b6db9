"""Readings for the live charts: rates need two of them, what is not told is None."""

from dataclasses import replace

import psutil
import pytest

from app.core.live import LiveReading
from app.probes.live import LiveMeter
from app.probes.sampler import Counters

CPUS = psutil.cpu_count() or 1
FIRST = Counters(10.0, swap_in_bytes=1000, swap_out_bytes=0, busy_cpu_s=5.0)


class _Meter:
    """Gives the readings it was made with."""

    def __init__(self, *readings: Counters) -> None:
        self._readings = list(readings)

    def read(self, pids: frozenset[int]) -> Counters:
        assert pids == frozenset()
        return self._readings.pop(0)


def _second(**changes: float | None) -> LiveReading:
    later = replace(FIRST, at_s=12.0, **changes)  # type: ignore[arg-type]  # made by the test
    meter = LiveMeter(_Meter(FIRST, later))
    meter.read()
    return meter.read()


def test_the_first_reading_has_no_rates() -> None:
    reading = LiveMeter(_Meter(FIRST)).read()
    assert reading.at_s == 10.0
    assert (reading.cpu_share, reading.swap_in_bytes_s, reading.swap_out_bytes_s) == (None,) * 3


def test_rates_are_what_happened_since_the_reading_before() -> None:
    reading = _second(swap_in_bytes=5000, swap_out_bytes=0, busy_cpu_s=5.0 + CPUS)
    assert reading.swap_in_bytes_s == 2000
    assert reading.swap_out_bytes_s == 0
    assert reading.cpu_share == pytest.approx(0.5)


def test_a_counter_that_is_not_there_gives_no_rate() -> None:
    reading = _second(swap_in_bytes=None, busy_cpu_s=None)
    assert reading.swap_in_bytes_s is None
    assert reading.cpu_share is None


def test_a_counter_that_went_back_gives_no_rate() -> None:
    assert _second(swap_in_bytes=10).swap_in_bytes_s is None


def test_cpu_use_stays_between_none_and_all() -> None:
    assert _second(busy_cpu_s=5.0 + 3 * CPUS).cpu_share == 1.0
    assert _second(busy_cpu_s=4.9).cpu_share == 0.0


@pytest.mark.real
def test_reads_this_computer() -> None:
    meter = LiveMeter()
    meter.read()
    reading = meter.read()
    assert reading.memory_used_bytes is not None
    assert reading.memory_total_bytes is not None
    assert 0 < reading.memory_used_bytes < reading.memory_total_bytes
    assert reading.cpu_share is None or 0 <= reading.cpu_share <= 1
