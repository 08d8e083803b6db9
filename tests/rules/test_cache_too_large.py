"""The context against the layers: what the fit gave up, and the change that brings it back."""

from app.core.log import Fact, LogEvent, Role
from app.core.request import LoadRequest
from app.rules.cache_too_large import check, needs, silent
from tests.rules import made

SHORT = made.event(
    Fact.FIT_SHORT, 30, "cannot meet free memory target of 1024 MiB", need_mib=1000, target_mib=1024
)
KEPT = made.event(Fact.FIT_CTX_KEPT, 31, "context size set by user to 32768 -> no change", n=32768)
DEVICE = made.event(Fact.FIT_DEVICE, 32, "  - CUDA0: 30 layers", device="CUDA0", layers=30)
REDUCED = made.event(
    Fact.FIT_CTX_REDUCED, 33, "context size reduced from 32768 to 10496", before=32768, after=10496
)
BUFFERS = (
    made.buffer("CUDA0", Role.WEIGHTS, 3500, 143),
    made.buffer("CPU_Mapped", Role.WEIGHTS, 1200, 144),
    made.buffer("CUDA0", Role.KV, 3700, 150),
    made.buffer("CPU", Role.KV, 908, 151),
)
LIST = made.listed("CUDA0")


def size(mib: float, cells: int, line: int = 160) -> LogEvent:
    """Return the line that sums up a cache."""
    return made.event(
        Fact.KV_SIZE, line, f"size = {mib} MiB ({cells} cells", mib=mib, cells=cells, layers=36
    )


def test_computes_the_context_that_fits_when_layers_had_to_go() -> None:
    told = made.story(SHORT, KEPT, DEVICE, made.offloaded(30, 37), size(4608, 32768),
                      buffers=BUFFERS, n_ctx=32768)  # fmt: skip
    finding = check(made.seen(told, LIST, request=LoadRequest(ctx=32768)))
    assert finding is not None
    assert "7 of 37 layers were moved" in finding.cause
    assert "4,608.00 MiB for the 32,768 tokens" in finding.cause
    assert "The context was set by hand" in finding.cause
    assert [cite.line for cite in finding.cites] == [30, 31, 32, 140]
    # 1000 MiB at 4608/32768 MiB a cell are 7112 cells; 25656 rounded down to 256
    assert finding.fix.command == "llama-server -m /models/m.gguf -c 25600"


def test_leaves_sliding_windows_alone_when_it_computes_the_context() -> None:
    told = made.story(SHORT, KEPT, made.offloaded(30, 37), size(2000, 32768), size(500, 2560, 161),
                      buffers=BUFFERS, n_ctx=32768)  # fmt: skip
    finding = check(made.seen(told, LIST))
    assert finding is not None and "-c 16384" in finding.fix.command


def test_offers_a_smaller_cache_when_the_context_would_be_too_short() -> None:
    buffers = (*BUFFERS[:2], made.buffer("CUDA0", Role.KV, 2200, 150))
    told = made.story(SHORT, made.offloaded(30, 37), size(1010, 4096), buffers=buffers, n_ctx=4096)
    finding = check(made.seen(told, LIST))
    assert finding is not None
    assert finding.fix.command == "llama-server -m /models/m.gguf -ctk q8_0 -ctv q8_0"


def test_is_silent_when_the_cache_alone_cannot_bring_the_layers_back() -> None:
    buffers = (*BUFFERS[:2], made.buffer("CUDA0", Role.KV, 500, 150))
    told = made.story(SHORT, made.offloaded(30, 37), size(500, 4096), buffers=buffers, n_ctx=4096)
    evidence = made.seen(told, LIST)
    assert check(evidence) is None
    assert silent(evidence) == "a smaller cache would not bring the layers back"


def test_names_both_when_context_and_layers_were_given_up() -> None:
    told = made.story(SHORT, REDUCED, DEVICE, made.offloaded(16, 19), buffers=BUFFERS)
    finding = check(made.seen(told, LIST))
    assert finding is not None
    assert [cite.line for cite in finding.cites] == [30, 33, 32, 140]


def test_is_silent_when_the_fit_changed_nothing() -> None:
    enough = made.event(Fact.FIT_ENOUGH, 30, "no changes needed", left_mib=1910, target_mib=1024)
    evidence = made.seen(made.story(enough, made.offloaded(37, 37), buffers=BUFFERS), LIST)
    assert check(evidence) is None
    assert needs(evidence) == ""
    assert silent(evidence) == "the automatic fit needed no changes"


def test_is_silent_when_the_layers_were_set_by_request() -> None:
    told = made.story(made.offloaded(18, 37), buffers=BUFFERS)
    assert check(made.seen(told, LIST)) is None
