"""Wrong text: only when it was seen, and only what the header lacks."""

from app.core.evidence import Evidence
from app.core.model import KeyValue, Model
from app.core.symptom import Symptom
from app.rules.bad_output import END_TOKEN, TEMPLATE, check, silent

WHOLE: dict[str, KeyValue] = {TEMPLATE: "{{ messages }}", END_TOKEN: 1}


def evidence(keys: dict[str, KeyValue], symptom: Symptom = Symptom.WRONG_TEXT) -> Evidence:
    """Return evidence of a header and what the user sees."""
    model = Model("m.gguf", "llama", 3, False, keys, (), ())
    return Evidence(model=model, symptom=symptom.value)


def test_names_the_end_token_when_it_is_missing() -> None:
    finding = check(evidence({TEMPLATE: "x"}))
    assert finding is not None and finding.title == "The file has no end token"


def test_names_the_template_when_it_is_missing() -> None:
    finding = check(evidence({END_TOKEN: 1, "general.name": "Llama 8B Base"}))
    assert finding is not None
    assert finding.title == "The file has no chat template"
    assert "base model" in finding.cause


def test_is_silent_when_the_header_is_whole() -> None:
    assert check(evidence(WHOLE)) is None
    assert silent(evidence(WHOLE)) == "the header has a chat template and an end token"


def test_is_silent_when_no_wrong_text_was_seen() -> None:
    assert check(evidence({}, Symptom.SLOW_WRITING)) is None
    assert silent(evidence({}, Symptom.SLOW_WRITING)) == "no wrong text was reported"
