"""A tokenizer without its key is told by the program's own warning."""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.rules.tokenizer_keys_missing import check, silent
from tests.rules import made


def warned(text: str) -> Evidence:
    """Make evidence of a warning about the text."""
    return made.seen(made.story(made.event(Fact.QUALITY_WARNING, 30, text)))


def test_asks_for_a_newer_conversion() -> None:
    finding = check(warned("load: GENERATION QUALITY WILL BE DEGRADED!"))
    assert finding is not None
    assert "newer GGUF" in finding.fix.text


def test_is_silent_when_the_warning_is_about_the_template() -> None:
    evidence = warned("falling back to chatml")
    assert check(evidence) is None
    assert silent(evidence) == ""
