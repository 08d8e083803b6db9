"""The end token is missed where an answer does not end, not where it is only reported."""

from dataclasses import replace

from app.core.log import Fact
from app.core.model import KeyValue
from app.core.rule import Certainty
from app.rules.end_token_missing import check, needs, silent
from app.rules.texts import TEMPLATE
from tests.rules import made, spoken

LOST: dict[str, KeyValue] = {TEMPLATE: "x", "general.name": "Llama 8B Instruct"}
LINE = made.event(
    Fact.HARMLESS, 24, "load: special_eos_id is not in special_eog_ids - the tokenize"
)


def test_names_the_end_token_when_an_answer_does_not_end() -> None:
    finding = check(spoken.evidence(LOST, spoken.ENDLESS))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert [cite.text for cite in finding.cites] == [
        "a short answer: it did not end by itself",
        "tokenizer.ggml.eos_token_id is missing",
    ]


def test_is_only_possible_when_wrong_text_was_reported() -> None:
    finding = check(spoken.evidence(LOST, is_reported=True))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


def test_takes_the_program_s_line_as_a_hint_only() -> None:
    log = made.seen(made.story(LINE)).log
    evidence = replace(spoken.evidence(spoken.WHOLE, spoken.ENDLESS), log=log)
    finding = check(evidence)
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN
    assert finding.cites[-1].line == 24
    assert check(made.seen(made.story(LINE))) is None


def test_is_silent_when_the_answer_ended() -> None:
    evidence = spoken.evidence(LOST, spoken.RIGHT)
    assert check(evidence) is None
    assert silent(evidence) == "a short answer ended by itself"
    assert needs(spoken.evidence(LOST)).startswith("no short answer was tried")


def test_is_silent_when_the_text_ends_and_is_nonsense() -> None:
    assert check(spoken.evidence(LOST, replace(spoken.NONSENSE, has_ended=True))) is None
