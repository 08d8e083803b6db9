"""A fit that gave up is a fault only where the load is too large as it was asked for."""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.request import LoadRequest
from app.rules.fit_switched_off import check, silent
from tests.rules import made

REASON = "n_gpu_layers already set by user to 100"
FAILED = made.event(
    Fact.FIT_FAILED, 6, f"failed to fit params: {REASON}, abort",
    reason=REASON, setting="n_gpu_layers", value="100",
)  # fmt: skip
SHORT = made.event(Fact.FIT_SHORT, 4, "need to reduce by 4418 MiB", need_mib=4418)
KEPT = made.event(Fact.FIT_CTX_KEPT, 5, "context size set by user to 32768", n=32768)


def load(used: int) -> Evidence:
    """Make evidence of a fit that gave up."""
    projected = made.event(Fact.FIT_PROJECTED, 3, "projected", used_mib=used, free_mib=15020)
    told = made.story(projected, SHORT, KEPT, FAILED)
    return made.seen(told, request=LoadRequest(ngl=100, ctx=32768))


def test_removes_the_layers_and_keeps_the_context() -> None:
    finding = check(load(18414))
    assert finding is not None
    assert "4,418 MiB" in finding.cause
    assert finding.fix.text.startswith("Remove -ngl and keep the context of 32,768 tokens")
    assert finding.fix.command == "llama-server -m /models/m.gguf -c 32768"
    assert [cite.line for cite in finding.cites] == [6, 5, 4, 3]


def test_is_silent_when_it_fits_as_asked() -> None:
    evidence = load(14000)
    assert check(evidence) is None
    assert "fits as it was asked" in silent(evidence)
