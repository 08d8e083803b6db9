"""A context that the fit cut: how much longer a q8_0 cache lets it be, and when it is no fault."""

from app.core.log import Fact, Role
from app.rules.context_reduced import check, needs, silent
from tests.rules import made

REDUCED = made.event(
    Fact.FIT_CTX_REDUCED, 33, "context size reduced from 32768 to 10496", before=32768, after=10496
)
SIZE = made.event(
    Fact.KV_SIZE, 160, "size = 1476.00 MiB (10496 cells", mib=1476, cells=10496, layers=36
)
BUFFERS = (made.buffer("CUDA0", Role.WEIGHTS, 4700, 143), made.buffer("CUDA0", Role.KV, 1476, 150))
LIST = made.listed("CUDA0")


def test_names_the_cut_context_when_all_layers_stay() -> None:
    told = made.story(REDUCED, made.offloaded(37, 37), SIZE, buffers=BUFFERS)
    finding = check(made.seen(told, LIST))
    assert finding is not None
    assert "from 32,768 to 10,496 tokens" in finding.cause
    assert [cite.line for cite in finding.cites] == [33, 160]
    assert "change nothing" in finding.fix.text
    # 10496 tokens x 64 / 34 = 19757, rounded down to 256
    assert "-ctk q8_0 -ctv q8_0 -c 19712" in finding.fix.command


def test_offers_no_second_q8_0_when_the_cache_already_is() -> None:
    told = made.story(
        REDUCED, made.offloaded(37, 37), buffers=BUFFERS, cache_type_k="q8_0", cache_type_v="q8_0"
    )
    finding = check(made.seen(told, LIST))
    assert finding is not None
    assert "smaller file" in finding.fix.text and finding.fix.command == ""


def test_is_silent_when_layers_had_to_go_as_well() -> None:
    device = made.event(Fact.FIT_DEVICE, 34, "  - CUDA0: 16 layers", device="CUDA0", layers=16)
    evidence = made.seen(made.story(REDUCED, device, made.offloaded(16, 37), buffers=BUFFERS), LIST)
    assert check(evidence) is None
    assert silent(evidence) == "layers were moved as well, which costs more"


def test_is_silent_when_the_context_was_set_by_hand() -> None:
    kept = made.event(Fact.FIT_CTX_KEPT, 31, "context size set by user to 4096", n=4096)
    evidence = made.seen(made.story(kept, made.offloaded(37, 37), buffers=BUFFERS), LIST)
    assert check(evidence) is None
    assert needs(evidence) == ""
    assert silent(evidence) == "the context was set by hand, so the fit left it"
