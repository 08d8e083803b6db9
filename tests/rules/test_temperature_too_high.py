"""A temperature is blamed only when the same question comes out right at 0."""

from dataclasses import replace

from app.core.evidence import Evidence, TextCheck
from app.core.model import Model
from app.rules.temperature_too_high import check, silent


def answer(degrees: str, *, is_readable: bool) -> TextCheck:
    """Make an answer."""
    return TextCheck((("temperature", degrees),), is_readable)


HOT = Evidence(text_checks=(answer("1.8", is_readable=False), answer("0", is_readable=True)))


def test_goes_to_the_usual_or_the_recommended_temperature() -> None:
    finding = check(HOT)
    assert finding is not None and finding.fix.command == "--temp 0.7"
    keys = {"general.sampling.temp": 0.6}
    finding = check(replace(HOT, model=Model("m", "llama", 3, False, keys, (), ())))
    assert finding is not None and finding.fix.command == "--temp 0.6"


def test_is_silent_when_zero_fails_too() -> None:
    checks = (answer("1.8", is_readable=False), answer("0", is_readable=False))
    evidence = Evidence(text_checks=checks)
    assert check(evidence) is None
    assert silent(evidence)
