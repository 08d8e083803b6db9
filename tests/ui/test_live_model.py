"""The strips: seconds before now, gaps where nothing was measured, an axis that can be read."""

import math
from dataclasses import replace

import pytest

from app.core.live import GpuReading, LiveReading
from app.ui.models import live_gpu_model
from app.ui.models.live_history import SPAN_S, History, Trace
from app.ui.models.live_model import strips
from app.ui.widgets.strip_chart import runs

GIB = 1 << 30


def _history(*readings: LiveReading) -> History:
    history = History()
    for reading in readings:
        history.add(reading)
    return history


def test_starts_without_a_line_and_without_a_zero() -> None:
    for strip in strips(History()):
        assert strip.now == "not known"
        assert all(trace.points == () for trace in strip.traces)


def test_points_are_seconds_before_the_newest() -> None:
    history = _history(LiveReading(100.0, 0.25), LiveReading(100.5, 0.5))
    cpu = strips(history)[0]
    assert cpu.traces[0].points == ((0.5, 0.25), (0.0, 0.5))
    assert cpu.now == "50 %"


def test_what_was_not_measured_is_a_gap() -> None:
    history = _history(LiveReading(1.0), LiveReading(1.5, 0.5), LiveReading(2.0))
    values = [value for _, value in strips(history)[0].traces[0].points]
    assert math.isnan(values[0])
    assert values[1] == 0.5
    assert math.isnan(values[2])


def test_a_pause_breaks_the_line() -> None:
    history = _history(LiveReading(0.0, 0.1), LiveReading(20.0, 0.2))
    assert runs(strips(history)[0].traces[0]) == (((20.0, 0.1),), ((0.0, 0.2),))


def test_forgets_what_is_older_than_the_chart() -> None:
    history = _history(*(LiveReading(i / 2, 0.5) for i in range(400)))
    points = strips(history)[0].traces[0].points
    assert SPAN_S <= points[0][0] <= SPAN_S + 2
    assert len(points) < 130


def test_memory_is_drawn_against_all_memory_with_the_containers_limit() -> None:
    history = _history(LiveReading(1.0, None, 6 * GIB, 24 * GIB))
    memory = strips(history, 8 * GIB)[1]
    assert (memory.now, memory.top, memory.top_text) == ("6.0 GiB", 24.0 * GIB, "24.0 GiB")
    assert (memory.limit, memory.limit_text) == (8.0 * GIB, "limit 8.0 GiB")
    assert strips(history)[1].limit is None
    assert strips(history, 64 * GIB)[1].limit is None


@pytest.mark.parametrize(
    ("rate", "top"),
    [
        (0, "1.0 MiB/s"),
        (3 << 20, "5.0 MiB/s"),
        (40 << 20, "50.0 MiB/s"),
        (600 << 20, "1.00 GiB/s"),
        (3 << 30, "5.00 GiB/s"),
    ],
)
def test_the_axis_of_swap_ends_at_a_round_figure(rate: int, top: str) -> None:
    swap = strips(_history(LiveReading(1.0, swap_in_bytes_s=rate, swap_out_bytes_s=0)))[2]
    assert swap.top_text == top
    assert swap.top >= rate


def test_swap_in_and_out_differ_by_more_than_colour() -> None:
    first, second = strips(History())[2].traces
    assert (first.is_dashed, second.is_dashed) == (False, True)


def test_runs_are_the_pieces_between_gaps() -> None:
    gap = (2.0, math.nan)
    trace = Trace("x", "accent", (gap, (1.5, 1.0), (1.0, 2.0), gap, gap, (0.0, 3.0)))
    assert runs(trace) == (((1.5, 1.0), (1.0, 2.0)), ((0.0, 3.0),))
    assert runs(Trace("x", "accent", (gap,))) == ()


def _gpu(**changes: float) -> GpuReading:
    values = {
        "busy": 0.9, "memory_used_bytes": 20 * GIB, "memory_total_bytes": 24 * GIB,
        "clock_mhz": 2100, "temperature": 84.0, "power_w": 300.0, "power_limit_w": 320.0,
    }  # fmt: skip
    return GpuReading("card", **(values | changes))  # type: ignore[arg-type]  # made by the test


def test_a_gpu_has_use_memory_and_power_with_their_limits() -> None:
    history = _history(LiveReading(1.0, gpus=(_gpu(),)))
    use, memory, power = strips(history)[3:]
    assert (use.title, use.now) == ("GPU 0 in use", "90 %, 2,100 MHz")
    assert (memory.now, memory.limit) == ("20.0 GiB", 24.0 * GIB)
    assert (power.now, power.limit, power.limit_text) == ("300 W, 84 °C", 320.0, "limit 320 W")


def test_a_gpu_that_tells_no_power_shows_its_heat() -> None:
    gpu = GpuReading("card", temperature=61.0)
    heat = strips(_history(LiveReading(1.0, gpus=(gpu,))))[5]
    assert (heat.title, heat.now, heat.limit) == ("GPU 0 heat", "61 °C", None)


def test_says_when_heat_holds_the_clock_down_while_it_works() -> None:
    hot = LiveReading(1.0, gpus=(_gpu(clock_reasons=0x40),))
    history = _history(*(replace(hot, at_s=i / 2) for i in range(2)))
    assert live_gpu_model.event(history) == ""  # twice is chance
    history.add(replace(hot, at_s=1.5))
    assert live_gpu_model.event(history) == (
        "GPU 0: its clock is held down (2,100 MHz): heat (hardware)."
    )
    assert live_gpu_model.event(History()) == ""


def test_pages_that_are_read_again_are_drawn_beside_swap() -> None:
    history = _history(LiveReading(1.0), LiveReading(1.5, refault_bytes_s=3.0 * (1 << 20)))
    swap = strips(history)[2]
    assert [trace.name for trace in swap.traces] == ["in", "out", "read again"]
    assert swap.top >= 3 * (1 << 20)


def test_kinds_of_cores_are_lines_of_their_own() -> None:
    kinds = (("Performance", 0.9), ("Efficiency", 0.1))
    cpu = strips(_history(LiveReading(1.0, 0.5, cpu_kinds=kinds)))[0]
    assert [trace.name for trace in cpu.traces] == ["all", "Performance", "Efficiency"]
    assert cpu.traces[1].points == ((0.0, 0.9),)
