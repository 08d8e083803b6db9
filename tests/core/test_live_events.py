"""Events: one when a limit begins to bite, none while it goes on or for a card that idles."""

from dataclasses import replace

from app.core.live import GpuReading, LiveReading
from app.core.live_events import events_of
from app.core.units import GIB, MIB

BUSY = GpuReading("card", busy=0.9, clock_mhz=1900, memory_clock_mhz=9751, clock_reasons=0)


def _over_time(*readings: LiveReading) -> tuple[LiveReading, ...]:
    return tuple(replace(reading, at_s=10 + i / 2) for i, reading in enumerate(readings))


def _gpus(*gpus: GpuReading) -> tuple[LiveReading, ...]:
    return _over_time(*(LiveReading(0.0, gpus=(gpu,)) for gpu in gpus))


def test_swap_begins_once() -> None:
    calm = LiveReading(0.0, swap_in_bytes_s=0.0, swap_out_bytes_s=100.0)
    swaps = replace(calm, swap_out_bytes_s=20.0 * MIB)
    (event,) = events_of(_over_time(calm, swaps, calm, swaps, swaps))
    assert (event.at_s, event.subject) == (10.5, "swap")
    assert event.text == "swap began: in 0 bytes/s, out 20.0 MiB/s"


def test_a_limit_that_bites_again_after_a_pause_is_a_new_event() -> None:
    swaps = LiveReading(0.0, swap_in_bytes_s=20.0 * MIB)
    assert len(events_of((replace(swaps, at_s=1.0), replace(swaps, at_s=7.0)))) == 2
    assert len(events_of((replace(swaps, at_s=1.0), replace(swaps, at_s=5.0)))) == 1


def test_refaults_and_a_full_memory_are_told() -> None:
    again = LiveReading(0.0, refault_bytes_s=40.0 * MIB)
    full = LiveReading(0.0, memory_used_bytes=98 * GIB, memory_total_bytes=100 * GIB)
    texts = [event.text for event in events_of(_over_time(again, full))]
    assert texts == [
        "pages of files are dropped and read again (refaults): 40.0 MiB/s",
        "memory is full: 2.0 GiB of 100.0 GiB available",
    ]


def test_a_containers_limit_is_told_when_it_was_hit() -> None:
    near = LiveReading(0.0, limit_bytes=8 * GIB, limit_used_bytes=8 * GIB, limit_hits=0)
    (event,) = events_of(_over_time(near, replace(near, limit_hits=3)))
    assert event.text == "memory limit reached: 8.0 GiB for this container"


def test_heat_of_the_processor_is_told_with_its_clock() -> None:
    (event,) = events_of(_over_time(LiveReading(0.0, cpu_throttles=2, cpu_mhz=1800)))
    assert (event.subject, event.text) == ("cpu", "the processor is held down at 1,800 MHz: heat")
    assert events_of((LiveReading(0.0, cpu_throttles=0),)) == ()


def test_a_memory_clock_that_falls_says_why() -> None:
    hot = replace(BUSY, memory_clock_mhz=5001, clock_reasons=0x44)
    events = events_of(_gpus(BUSY, BUSY, hot, hot, hot))
    assert [event.text for event in events] == [
        "GPU 0: memory clock fell from 9,751 to 5,001 MHz: heat (hardware)",
        "GPU 0: clock held down at 1,900 MHz: heat (hardware)",
    ]
    assert {event.subject for event in events} == {"gpu.0.clock"}


def test_a_clock_that_falls_without_a_reason_says_so() -> None:
    low = replace(BUSY, memory_clock_mhz=5001)
    (event,) = events_of(_gpus(BUSY, low, low))
    assert event.text.endswith(": no reason told")


def test_an_idle_card_may_lower_its_clocks() -> None:
    idle = replace(BUSY, busy=0.02, memory_clock_mhz=405, clock_reasons=0x1)
    one = replace(BUSY, memory_clock_mhz=405)
    assert events_of(_gpus(BUSY, idle, idle, idle)) == ()
    assert events_of(_gpus(BUSY, BUSY, one, BUSY)) == ()


def test_the_power_limit_is_told_as_normal() -> None:
    (event,) = events_of(_gpus(replace(BUSY, power_w=449.0, power_limit_w=450.0)))
    assert event.is_normal
    assert event.text == "GPU 0: power limit reached: 450 W (normal at full load)"


def test_heat_and_memory_of_a_card_have_their_limits() -> None:
    hot = replace(BUSY, temperature=83.0, temperature_limit=83.0)
    full = replace(BUSY, memory_used_bytes=98 * GIB, memory_total_bytes=100 * GIB)
    texts = [event.text for event in events_of(_gpus(hot, full))]
    assert texts == [
        "GPU 0: temperature at its limit: 83 of 83 °C",
        "GPU 0: its memory is full: 2.0 GiB free",
    ]


def test_memory_that_windows_moves_is_told_by_its_growth() -> None:
    steps = (300 * MIB, 400 * MIB, 900 * MIB)
    readings = _over_time(*(LiveReading(0.0, spilled_bytes=size) for size in steps))
    (event,) = events_of(readings)
    assert event.text == "card memory moves to system memory: 600 MiB more"
