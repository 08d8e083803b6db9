"""The strips: seconds before now, gaps where nothing was measured, an axis that can be read."""

import math

import pytest

from app.core.live import GpuReading, LiveReading, ProcessReading
from app.ui.models.live_history import SPAN_S, History, Strip, Trace
from app.ui.models.live_model import groups
from app.ui.widgets.strip_chart import runs
from tests.live_recordings import readings

GIB = 1 << 30


def _history(*readings: LiveReading) -> History:
    history = History()
    for reading in readings:
        history.add(reading)
    return history


def strips(history: History, memory_limit: int | None = None) -> tuple[Strip, ...]:
    """Return the strips of the computer itself."""
    return groups(history, memory_limit)[0].strips


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


def test_memory_is_drawn_against_all_memory() -> None:
    memory = strips(_history(LiveReading(1.0, None, 6 * GIB, 24 * GIB)))[1]
    assert (memory.now, memory.limit, memory.limit_text) == (
        "6.0 GiB", 24.0 * GIB, "all 24.0 GiB",
    )  # fmt: skip
    assert memory.top > 24 * GIB  # the line of the limit can be seen
    assert len(strips(_history(LiveReading(1.0, None, 6 * GIB, 24 * GIB)), 64 * GIB)[1].traces) == 1


def test_a_container_has_its_own_line_and_limit() -> None:
    reading = LiveReading(
        1.0, None, 6 * GIB, 24 * GIB, limit_bytes=8 * GIB, limit_used_bytes=3 * GIB
    )
    memory = strips(_history(reading))[1]
    assert (memory.limit, memory.limit_text) == (8.0 * GIB, "limit 8.0 GiB")
    assert [trace.name for trace in memory.traces] == ["all programs", "this container"]
    # of a recorded machine only the limit is known
    known = strips(_history(LiveReading(1.0, None, 6 * GIB, 24 * GIB)), 8 * GIB)[1]
    assert (known.limit, len(known.traces)) == (8.0 * GIB, 1)


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


def test_a_gpu_has_strips_of_what_it_tells_with_limits() -> None:
    gpu = _gpu(temperature_limit=90.0)
    computer, card = groups(_history(LiveReading(1.0, gpus=(gpu,))))
    assert (computer.title, card.title) == ("This computer", "GPU 0: card")
    use, memory, clocks, heat, power = card.strips
    assert (use.title, use.now, len(use.traces)) == ("In use", "90 %", 1)
    assert (memory.now, memory.limit) == ("20.0 GiB", 24.0 * GIB)
    assert clocks.now == "not known, computing 2,100 MHz"
    assert (heat.now, heat.limit, heat.limit_text) == ("84 °C", 90.0, "limit 90 °C")
    assert (power.now, power.limit, power.limit_text) == ("300 W", 320.0, "limit 320 W")


def test_of_many_gpus_the_busiest_are_drawn_and_the_rest_is_counted() -> None:
    three = groups(_history(LiveReading(1.0, gpus=tuple(_gpu() for _ in range(3)))))
    assert [len(group.strips) for group in three[1:]] == [3, 3, 3]
    six = tuple(_gpu(busy=i / 10) for i in range(6))
    found = groups(_history(LiveReading(1.0, gpus=six)))
    assert [group.title for group in found[1:]] == [
        "GPU 2: card", "GPU 3: card", "GPU 4: card",
        "GPU 5: card (2 that do less are not drawn)",
    ]  # fmt: skip


def test_a_gpu_that_tells_nothing_has_no_strip_and_no_zero() -> None:
    assert len(groups(_history(LiveReading(1.0, gpus=(GpuReading("quiet"),))))) == 1
    (_, card) = groups(_history(LiveReading(1.0, gpus=(GpuReading("some", temperature=61.0),))))
    (heat,) = card.strips
    assert (heat.title, heat.now, heat.limit) == ("Temperature", "61 °C", None)


def test_a_recorded_card_that_gets_hot_is_marked_where_its_limit_bites() -> None:
    history = _history(*readings())
    _, card = groups(history)
    by_title = {strip.title: strip for strip in card.strips}
    assert list(by_title) == ["In use", "Memory", "Clocks", "Temperature", "Power", "Link"]
    fell, held = by_title["Clocks"].marks
    assert fell.text == "GPU 0: memory clock fell from 9,501 to 5,001 MHz: heat (hardware)"
    assert held.text == "GPU 0: clock held down at 1,230 MHz: heat (hardware)"
    assert fell.age_s == 25.0
    assert [mark.is_normal for mark in by_title["Power"].marks] == [True]
    assert [mark.text for mark in by_title["Temperature"].marks] == [
        "GPU 0: temperature at its limit: 93 of 93 °C"
    ]
    assert by_title["Link"].now == "0.3 GB/s, PCIe 4, 16 lanes"
    assert by_title["Clocks"].sentence == (
        "9,501 MHz, computing 1,870 MHz. 24 s ago: GPU 0: clock held down at 1,230 MHz: heat "
        "(hardware). 25 s ago: GPU 0: memory clock fell from 9,501 to 5,001 MHz: heat (hardware)"
    )


def test_under_the_pointer_stand_the_values_the_event_and_the_source() -> None:
    _, card = groups(_history(*readings()))
    clocks = card.strips[2]
    assert clocks.at(25.0) == (
        "Clocks 25 s ago: memory: 5,001 MHz, computing: 1,200 MHz\n"
        "GPU 0: memory clock fell from 9,501 to 5,001 MHz: heat (hardware)\n"
        "GPU 0: clock held down at 1,230 MHz: heat (hardware)\n"
        "Source: NVML"
    )
    assert "not known" in strips(History())[0].at(30.0)


def test_marks_leave_the_chart_with_their_time_and_events_stay() -> None:
    history = _history(LiveReading(0.0), LiveReading(1.0, swap_in_bytes_s=20.0 * (1 << 20)))
    assert len(strips(history)[2].marks) == 1
    history.add(LiveReading(90.0))
    assert strips(history)[2].marks == ()
    assert [event.at_s for event in history.events] == [1.0]


def test_processes_of_runtimes_have_strips_of_their_own() -> None:
    server = ProcessReading(
        7, "Ollama: llama-server", "llama-server -m a.gguf", 1.0004, 3 * GIB, 20 * GIB
    )
    helper = ProcessReading(8, "Ollama", "ollama serve", None, 1 << 20)
    _, first, second = groups(_history(LiveReading(1.0, processes=(server, helper))))
    assert (first.title, first.detail) == (
        "Ollama: llama-server, process 7", "llama-server -m a.gguf",
    )  # fmt: skip
    assert [(strip.title, strip.now) for strip in first.strips] == [
        ("CPU", "1 core"), ("Resident memory", "3.00 GiB"), ("GPU memory", "20.00 GiB"),
    ]  # fmt: skip
    # what the driver does not tell is not drawn, and a first reading has no rate
    assert [(strip.title, strip.now) for strip in second.strips] == [
        ("CPU", "not known"), ("Resident memory", "1.0 MiB"),
    ]  # fmt: skip


def test_of_many_processes_those_with_a_model_are_shown() -> None:
    small = [ProcessReading(i, f"helper {i}", resident_bytes=1 << 20) for i in range(5)]
    large = ProcessReading(9, "server", resident_bytes=8 * GIB)
    found = groups(_history(LiveReading(1.0, processes=(*small, large))))
    assert [group.title for group in found[1:]] == [
        "helper 0, process 0", "helper 1, process 1", "server, process 9",
    ]  # fmt: skip


def test_a_recorded_time_counts_from_its_start() -> None:
    history = History(20.0, is_live=False)
    history.add(LiveReading(0.0, 0.5))
    history.add(LiveReading(20.0, 0.75))
    cpu = groups(history)[0].strips[0]
    assert [text for _, text in cpu.ticks] == ["0 s", "7 s", "13 s", "20 s"]
    assert cpu.at(20.0).startswith("CPU in use at 0 s: 50 %")
    assert [text for _, text in strips(History())[0].ticks] == ["60 s ago", "40 s", "20 s", "now"]


def test_pages_that_are_read_again_are_drawn_beside_swap() -> None:
    history = _history(LiveReading(1.0), LiveReading(1.5, refault_bytes_s=3.0 * (1 << 20)))
    swap = strips(history)[2]
    assert [trace.name for trace in swap.traces] == ["in", "out", "read again"]
    assert swap.top >= 3 * (1 << 20)


def test_where_swap_is_not_told_from_files_what_is_read_for_faults_is_drawn() -> None:
    reading = LiveReading(1.0, swap_out_bytes_s=0.0, fault_bytes_s=40.0 * (1 << 20))
    swap = strips(_history(reading))[2]
    assert [trace.name for trace in swap.traces] == ["out", "read"]
    assert swap.now == "read 40.0 MiB/s, out 0 bytes/s"
    assert [mark.text for mark in swap.marks] == [
        "pages are read from the drive again (swap or files): 40.0 MiB/s"
    ]


def test_clock_and_heat_of_the_processor_are_drawn_where_they_are_told() -> None:
    reading = LiveReading(1.0, cpu_mhz=3900, cpu_temperature=97.0, cpu_throttles=1)
    clock, heat = strips(_history(reading))[3:]
    assert (clock.title, clock.now) == ("CPU clock, fastest core", "3,900 MHz")
    assert (heat.title, heat.now) == ("CPU temperature", "97 °C")
    assert [mark.text for mark in heat.marks] == ["the processor is held down at 3,900 MHz: heat"]
    assert len(strips(_history(LiveReading(1.0)))) == 3


def test_kinds_of_cores_are_lines_of_their_own() -> None:
    kinds = (("Performance", 0.9), ("Efficiency", 0.1))
    cpu = strips(_history(LiveReading(1.0, 0.5, cpu_kinds=kinds)))[0]
    assert [trace.name for trace in cpu.traces] == ["all", "Performance", "Efficiency"]
    assert cpu.traces[1].points == ((0.0, 0.9),)
