"""What rules get of a watched GPU: clocks that fall while it works, of the card that worked."""

from dataclasses import replace

import pytest

from app.core.gpu_watch import gpu_watch, least_of_before
from app.core.live import GpuReading, LiveReading

GIB = 1 << 30
BUSY = GpuReading(
    "card", busy=0.95, memory_busy=0.8, memory_used_bytes=20 * GIB, memory_total_bytes=24 * GIB,
    clock_mhz=1900, memory_clock_mhz=9751, temperature=70.0, power_w=300.0, power_limit_w=350.0,
    clock_reasons=0x4, link_bytes_s=5e8, temperature_limit=83.0, power_default_w=350.0,
    link_width=16, link_width_max=16, link_generation=4, link_generation_max=4,
)  # fmt: skip
IDLE = replace(
    BUSY, busy=0.0, memory_busy=0.0, clock_mhz=210, memory_clock_mhz=405, clock_reasons=0x1,
    link_generation=1, power_w=20.0,
)  # fmt: skip


def _readings(*gpus: GpuReading) -> tuple[LiveReading, ...]:
    return tuple(LiveReading(i / 2, gpus=(gpu,)) for i, gpu in enumerate(gpus))


def test_says_what_a_healthy_card_did() -> None:
    watch = gpu_watch(_readings(IDLE, BUSY, BUSY, BUSY, IDLE), "NVML")
    assert watch is not None
    assert (watch.name, watch.index, watch.source) == ("card", 0, "NVML")
    assert (watch.n_samples, watch.n_busy) == (5, 3)
    assert watch.use_mean == pytest.approx(0.57)
    assert watch.free_min_bytes == 4 * GIB
    assert (watch.n_thermal, watch.reasons, watch.is_capped) == (0, (), True)
    # an idle card lowers its clocks and its link by itself: that is no fall
    assert (watch.memory_clock_min, watch.clock_min) == (1.0, 1.0)
    assert (watch.link_generation, watch.link_width) == (4, 16)
    assert (watch.temperature_max, watch.temperature_limit) == (70.0, 83.0)


def test_counts_heat_only_while_the_card_works() -> None:
    hot = replace(BUSY, clock_reasons=0x40, memory_clock_mhz=5001, temperature=84.0)
    watch = gpu_watch(_readings(BUSY, BUSY, hot, hot, hot, replace(IDLE, clock_reasons=0x41)))
    assert watch is not None
    assert watch.n_thermal == 3
    assert watch.reasons == ("heat (hardware)",)
    assert watch.memory_clock_min == pytest.approx(5001 / 9751)


def test_one_low_sample_between_two_tests_is_no_fall() -> None:
    dip = replace(BUSY, memory_clock_mhz=405, busy=0.6)
    watch = gpu_watch(_readings(BUSY, BUSY, dip, BUSY, BUSY))
    assert watch is not None and watch.memory_clock_min == 1.0


def test_a_card_that_starts_slowly_did_not_fall() -> None:
    assert least_of_before((405, 5001, 9751, 9751)) == 1.0
    assert least_of_before((9751, 9501, 9501)) == pytest.approx(9501 / 9751)
    assert least_of_before((9751,)) is None
    assert least_of_before((None, None, None)) is None


def test_takes_the_card_that_worked_but_one_that_was_held_down_first() -> None:
    other = replace(BUSY, name="second", busy=0.3)
    both = tuple(LiveReading(i / 2, gpus=(BUSY, other)) for i in range(6))
    watch = gpu_watch(both)
    assert watch is not None and watch.name == "card"
    hot = replace(other, clock_reasons=0x20)
    held = tuple(replace(reading, gpus=(BUSY, hot)) for reading in both)
    watch = gpu_watch(held)
    assert watch is not None and (watch.name, watch.index) == ("second", 1)


def test_memory_that_windows_moved_is_what_came_on_top() -> None:
    moved = (
        replace(reading, spilled_bytes=200 + i * GIB)
        for i, reading in enumerate(_readings(BUSY, BUSY, BUSY))
    )
    watch = gpu_watch(tuple(moved))
    assert watch is not None and watch.shared_growth_bytes == 2 * GIB


def test_nothing_is_said_of_no_card_and_of_one_that_tells_nothing() -> None:
    assert gpu_watch((LiveReading(0.0), LiveReading(0.5))) is None
    assert gpu_watch(()) is None
    watch = gpu_watch(_readings(GpuReading("quiet"), GpuReading("quiet")))
    assert watch is not None
    assert (watch.use_mean, watch.n_thermal, watch.is_capped, watch.n_busy) == (None,) * 4
    assert (watch.memory_clock_min, watch.link_width, watch.free_min_bytes) == (None,) * 3
