"""A base model is a fault only where answers were wrong: completing is what it is for."""

import pytest

from app.core.model import KeyValue
from app.core.rule import Certainty
from app.rules.base_model_as_chat import check, needs, silent
from app.rules.texts import END_TOKEN, TEMPLATE
from tests.rules import spoken

BASE: dict[str, KeyValue] = {END_TOKEN: 1, "general.name": "Gemma 3 270m"}


def test_names_the_base_model_when_an_answer_is_wrong() -> None:
    finding = check(spoken.evidence(BASE, spoken.ENDLESS))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "Gemma 3 270m" in finding.cause
    assert "chat file" in finding.fix.text


def test_is_only_possible_when_wrong_text_was_reported() -> None:
    finding = check(spoken.evidence(BASE, is_reported=True))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


@pytest.mark.parametrize(
    "keys",
    [
        {"general.name": "Llama 3 8B Instruct"},
        {"general.name": "Gemma 3 270m", "general.finetune": "it"},
        {"general.name": "Gemma 3 270m", TEMPLATE: "{{ messages }}"},
    ],
    ids=["named so", "tuned", "with a template"],
)
def test_is_silent_when_the_model_is_made_for_chats(keys: dict[str, KeyValue]) -> None:
    assert check(spoken.evidence(keys, spoken.NONSENSE)) is None


def test_is_silent_when_nothing_is_wrong_with_the_text() -> None:
    assert check(spoken.evidence(BASE)) is None
    assert check(spoken.evidence(BASE, spoken.RIGHT)) is None
    assert silent(spoken.evidence(BASE, spoken.RIGHT)).startswith("a short answer could be read")
    assert needs(spoken.evidence(BASE)).startswith("no short answer was tried")


def test_is_silent_when_the_model_never_answers() -> None:
    assert check(spoken.evidence(BASE, spoken.NONSENSE, arch="nomic-bert")) is None
