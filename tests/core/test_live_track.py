"""A track keeps what was read, small, and can be drawn again."""

from dataclasses import replace

from app.core import codec
from app.core.evidence import Evidence
from app.core.live import GpuReading, LiveReading, ProcessReading
from app.core.live_track import MOST_POINTS, readings_of, track_of
from app.core.track import Series, Track
from app.core.units import GIB, MIB

FULL = LiveReading(
    100.0, cpu_share=0.5, memory_used_bytes=4 * GIB, memory_total_bytes=8 * GIB,
    swap_in_bytes_s=0.0, swap_out_bytes_s=2.5 * MIB, cpu_kinds=(("Performance", 0.75),),
    gpus=(GpuReading("card", busy=0.5, memory_clock_mhz=9751, clock_reasons=0x40),),
    processes=(ProcessReading(7, "Ollama", "ollama serve", 1.5, 3 * GIB),),
)  # fmt: skip


def test_gives_back_what_was_read() -> None:
    later = replace(FULL, at_s=100.5, processes=())
    track = track_of((FULL, later), "psutil")
    assert track is not None
    first, second = readings_of(track)
    # the number and the command line of a process are nobody's business later
    shown = (ProcessReading(0, "Ollama", "", 1.5, 3 * GIB),)
    gpus = (replace(FULL.gpus[0], source="psutil"),)
    assert first == replace(FULL, at_s=0.0, processes=shown, gpus=gpus)
    assert second == replace(later, at_s=0.5, gpus=gpus)
    assert track.source == "psutil"


def test_events_count_from_the_start() -> None:
    track = track_of((replace(FULL, swap_out_bytes_s=0.0), replace(FULL, at_s=103.5)))
    assert track is not None
    assert [(event.at_s, event.subject) for event in track.events] == [(3.5, "swap")]


def test_an_hour_stays_small_and_survives_the_file() -> None:
    track = track_of(tuple(replace(FULL, at_s=i / 2) for i in range(7200)))
    assert track is not None
    assert len(track.times_s) <= MOST_POINTS
    assert track.times_s[-1] > 3500
    data = codec.dumps(Evidence(track=track))
    assert len(data) < 100_000
    assert codec.loads(data).track == track


def test_a_track_of_another_person_may_hold_anything() -> None:
    odd = Track(
        (0.0, 0.5),
        (
            Series("gpu.x.busy", (1.0,)), Series("gpu.0.nothing", (1.0, 2.0)), Series("", ()),
            Series("gpu.0.memory_clock_mhz", (5.0,), "card"), Series("process.1.cpu_cores", ()),
        ),
    )  # fmt: skip
    first, second = readings_of(odd)
    assert first.gpus == (GpuReading("card", memory_clock_mhz=5),)
    assert second.gpus == (GpuReading("card"),)
    assert first.processes == ()


def test_nothing_was_read() -> None:
    assert track_of(()) is None
    empty = track_of((LiveReading(5.0),))
    assert empty is not None and empty.series == ()
