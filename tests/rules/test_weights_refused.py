"""Weights that a device refuses are told by the debug line, the embedding's not counted."""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.rules.weights_refused import check, needs, silent
from tests.rules import made


def refused(tensor: str) -> Evidence:
    """Make evidence of the line."""
    line = made.event(Fact.TENSOR_REFUSED, 70, f"tensor '{tensor}' cannot be used",
                      tensor=tensor, type="iq4_nl", others=41, preferred="Vulkan0")  # fmt: skip
    return made.seen(made.story(line))


def test_names_the_type_when_a_block_is_refused() -> None:
    finding = check(refused("blk.0.ffn_up.weight"))
    assert finding is not None
    assert "42 tensors" in finding.cause and "iq4_nl" in finding.cause


def test_is_silent_when_it_is_the_embedding() -> None:
    evidence = refused("token_embd.weight")
    assert check(evidence) is None
    assert silent(evidence)


def test_needs_a_log_of_everything() -> None:
    assert "-v" in needs(made.seen(made.story()))
