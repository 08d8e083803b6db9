"""The template: missing from the header, refused by the program, given by hand, or leaking."""

from dataclasses import replace

from app.core.log import Fact
from app.core.model import KeyValue
from app.core.rule import Certainty
from app.rules.template_missing import check, silent
from app.rules.texts import END_TOKEN
from tests.rules import made, spoken

CHAT: dict[str, KeyValue] = {END_TOKEN: 1, "general.name": "Llama 8B Instruct"}
FALLBACK = made.event(
    Fact.QUALITY_WARNING, 90,
    "The chat template that comes with this model is not yet supported, falling back to chatml.",
)  # fmt: skip


def test_names_the_template_when_the_header_has_none() -> None:
    finding = check(spoken.evidence(CHAT, spoken.NONSENSE))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "no chat template" in finding.cause
    assert "--chat-template-file" in finding.fix.text


def test_uses_the_words_of_the_runtime() -> None:
    finding = check(replace(spoken.evidence(CHAT, spoken.NONSENSE), runtime="ollama"))
    assert finding is not None and "TEMPLATE" in finding.fix.text
    assert "--chat" not in finding.fix.text


def test_needs_no_answer_when_the_program_says_that_it_falls_back() -> None:
    finding = check(made.seen(made.story(FALLBACK)))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert finding.cites[0].line == 90


def test_names_the_template_when_its_words_stand_in_the_answer() -> None:
    finding = check(spoken.evidence(spoken.WHOLE, spoken.LEAK))
    assert finding is not None and "Words of a template" in finding.cause


def test_blames_the_template_given_by_hand_when_the_file_has_its_own() -> None:
    given = replace(spoken.NONSENSE, settings=(("template", "chatml"),))
    finding = check(spoken.evidence(spoken.WHOLE, given))
    assert finding is not None and "Remove the template" in finding.fix.text


def test_is_only_possible_when_wrong_text_was_reported() -> None:
    finding = check(spoken.evidence(CHAT, is_reported=True))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


def test_is_silent_when_the_header_is_whole_or_the_text_is_right() -> None:
    assert check(spoken.evidence(spoken.WHOLE, spoken.NONSENSE)) is None
    assert silent(spoken.evidence(spoken.WHOLE)) == "the header has a chat template"
    assert check(spoken.evidence(CHAT, spoken.RIGHT)) is None
    assert check(spoken.evidence(CHAT)) is None


def test_leaves_a_base_model_to_its_own_rule() -> None:
    base: dict[str, KeyValue] = {END_TOKEN: 1, "general.name": "Gemma 3 270m"}
    assert check(spoken.evidence(base, spoken.LEAK)) is None
