"""Hidden tokens are named by counts, not by the length of a wait."""

from app.core.evidence import Evidence, TextCheck
from app.rules.thinking_tokens import check, needs, silent


def answer(generated: int | None, shown: int | None) -> Evidence:
    """Make evidence of an answer."""
    one = TextCheck((), is_readable=True, n_generated=generated, n_shown=shown)
    return Evidence(text_checks=(one,))


def test_names_the_hidden_part() -> None:
    finding = check(answer(1800, 60))
    assert finding is not None
    assert "1,800 tokens generated, 60 shown" in finding.cause
    assert finding.fix.command == "--reasoning off"


def test_is_silent_when_short_or_shown() -> None:
    for evidence in (answer(200, 10), answer(1800, 1700)):
        assert check(evidence) is None
        assert silent(evidence)
    assert "not counted" in needs(answer(None, None))
