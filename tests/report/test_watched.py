"""What the report says of a watched GPU, of events, and of the runtime's own memory."""

from app.core.evidence import Evidence, GpuWatch, MemoryWatch
from app.core.gpu_watch import gpu_watch
from app.core.live import LiveReading
from app.core.live_track import track_of
from app.report import watched
from app.report.blocks import Heading, Paragraph, Table
from tests.live_recordings import readings


def _tables(evidence: Evidence) -> list[Table]:
    return [block for block in watched.blocks(evidence) if isinstance(block, Table)]


def test_says_what_a_hot_card_did_and_when_limits_were_reached() -> None:
    found = readings()
    evidence = Evidence(gpu_watch=gpu_watch(found, "NVML"), track=track_of(found, "NVML"))
    card, events = _tables(evidence)
    values = {row[0]: row[1] for row in card.rows}
    assert values["Clocks held down by"] == "heat (hardware)"
    assert values["Memory clock"] == "fell to 53 % of the highest before, while it worked"
    assert values["Temperature"] == "at most 93 °C, limit 93 °C"
    assert values["Link"] == "PCIe 4 of 4, 16 of 16 lanes, at most 0.3 GB/s"
    assert events.rows[2] == (
        "34.5 s", "GPU 0: memory clock fell from 9,501 to 5,001 MHz: heat (hardware)",
    )  # fmt: skip


def test_what_a_card_does_not_tell_has_no_row() -> None:
    (card,) = _tables(Evidence(gpu_watch=GpuWatch(4, name="quiet")))
    assert [row[0] for row in card.rows] == ["Card", "Watched"]


def test_a_calm_run_says_that_no_limit_was_reached() -> None:
    blocks = watched.blocks(Evidence(track=track_of((LiveReading(0.0), LiveReading(1.0)))))
    assert [type(block) for block in blocks] == [Heading, Paragraph]
    assert watched.blocks(Evidence()) == ()


def test_the_runtimes_own_memory_grows_or_shrinks() -> None:
    grown = watched.growth(MemoryWatch(10.0, 20, own_growth_bytes=3 << 30))
    assert grown.startswith("The runtime's own memory grew by 3.00 GiB in 10.0 s")
    assert "shrank by 1.0 MiB" in watched.growth(MemoryWatch(10.0, 20, own_growth_bytes=-(1 << 20)))
    assert watched.growth(MemoryWatch(10.0, 20)) == ""
