"""Flash attention that was switched off by hand is named only for long contexts on a device."""

from app.core.evidence import Evidence
from app.core.log import Fact, Role
from app.core.request import LoadRequest, Switch
from app.rules.flash_attention_off import check, silent
from tests.rules import made

CARD = made.buffer("CUDA0", Role.WEIGHTS, 4000, 100)


def load(state: str = "disabled", ctx: int = 32768, asked: Switch = Switch.OFF) -> Evidence:
    """Make evidence of a load."""
    line = made.event(Fact.FLASH_ATTN, 90, f"flash_attn = {state}", state=state)
    told = made.story(line, buffers=(CARD,), flash_attn=state, n_ctx=ctx)
    return made.seen(told, request=LoadRequest(flash_attn=asked))


def test_goes_back_to_automatic() -> None:
    finding = check(load())
    assert finding is not None
    assert finding.fix.change == (("flash_attn", Switch.AUTO),)
    assert "Measure both" in finding.fix.text


def test_is_silent_when_short_automatic_or_not_asked() -> None:
    assert check(load(ctx=4096)) is None
    assert check(load(asked=Switch.AUTO)) is None
    assert silent(load("enabled")) == "flash attention was not switched off"
