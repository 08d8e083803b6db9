"""Few bits are blamed only for wrong text, and never for a mixture that was made for it."""

from dataclasses import replace

from app.core.evidence import Evidence, TextCheck
from app.core.model import Model, Tensor
from app.core.rule import Certainty
from app.core.symptom import Symptom
from app.rules.too_few_bits import check, silent

_Q2_K, _Q4_K = 10, 12


def model(type_id: int, **keys: int) -> Model:
    """Make a model of one tensor."""
    tensors = (Tensor("blk.0.ffn_up.weight", type_id, (4096, 4096), 0),)
    return Model("m", "llama", 3, False, {f"llama.{k}": v for k, v in keys.items()}, tensors, ())


WRONG = Evidence(model=model(_Q2_K), text_checks=(TextCheck((), is_readable=False),))


def test_takes_more_bits_when_the_text_is_wrong() -> None:
    finding = check(WRONG)
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "2.62 bits" in finding.cause


def test_is_only_possible_when_wrong_text_was_reported() -> None:
    finding = check(replace(WRONG, text_checks=(), symptom=Symptom.WRONG_TEXT.value))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


def test_is_only_possible_for_a_mixture_of_experts() -> None:
    finding = check(replace(WRONG, model=model(_Q2_K, expert_count=256)))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


def test_is_silent_when_the_bits_suffice_or_the_text_is_right() -> None:
    assert check(replace(WRONG, model=model(_Q4_K))) is None
    assert "4.50 bits" in silent(replace(WRONG, model=model(_Q4_K)))
    assert check(replace(WRONG, text_checks=(TextCheck((), is_readable=True),))) is None
