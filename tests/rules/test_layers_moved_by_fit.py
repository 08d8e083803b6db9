"""Layers that the fit left out: a smaller file, or first what other programs hold."""

from app.core.log import Fact, Role
from app.rules.layers_moved_by_fit import check, silent
from tests.rules import made

SHORT = made.event(
    Fact.FIT_SHORT, 30, "cannot meet free memory target of 1024 MiB", need_mib=3000, target_mib=1024
)
BUFFERS = (
    made.buffer("CUDA0", Role.WEIGHTS, 3500, 143),
    made.buffer("CPU_Mapped", Role.WEIGHTS, 3200, 144),
    made.buffer("CUDA0", Role.KV, 500, 150),
)
TOLD = made.story(SHORT, made.offloaded(20, 37), buffers=BUFFERS, n_ctx=4096)


def test_asks_for_a_smaller_file_when_the_cache_is_small() -> None:
    finding = check(made.seen(TOLD, made.listed("CUDA0")))
    assert finding is not None
    assert "17 of 37 layers" in finding.cause and "2.93 GiB are missing" in finding.cause
    assert "smaller file" in finding.fix.text
    assert [cite.line for cite in finding.cites] == [30, 140, 144]


def test_asks_to_close_programs_when_they_hold_more_than_is_missing() -> None:
    used = made.event(
        Fact.DEVICE_LISTED, 4, "  - CUDA0 : RTX 4070 (12288 MiB, 8000 MiB free)",
        device="CUDA0", description="RTX 4070", total_mib=12288, free_mib=8000,
    )  # fmt: skip
    finding = check(made.seen(TOLD, used))
    assert finding is not None and "4.19 GiB of it were in use" in finding.fix.text


def test_leaves_it_to_the_cache_when_that_could_make_the_room() -> None:
    buffers = (*BUFFERS[:2], made.buffer("CUDA0", Role.KV, 8000, 150))
    evidence = made.seen(made.story(SHORT, made.offloaded(20, 37), buffers=buffers))
    assert check(evidence) is None
    assert silent(evidence) == "a smaller cache would bring them back"


def test_is_silent_when_the_layers_were_set_by_request() -> None:
    assert check(made.seen(made.story(made.offloaded(18, 37), buffers=BUFFERS))) is None
