"""Text that is wrong only with a quantised V cache is a fault of the build."""

from app.core.evidence import Evidence, TextCheck
from app.rules.quantised_v_cache import check, needs


def answer(type_v: str, *, is_readable: bool, type_k: str = "f16") -> TextCheck:
    """Make the result of a short answer."""
    return TextCheck((("type_k", type_k), ("type_v", type_v)), is_readable)


def test_goes_back_to_the_default_when_only_v_spoils_the_text() -> None:
    checks = (
        answer("q8_0", is_readable=False),
        answer("f16", is_readable=True),
        answer("f16", is_readable=True, type_k="q8_0"),
    )
    finding = check(Evidence(text_checks=checks))
    assert finding is not None
    assert finding.fix.change == (("cache_type_v", "f16"),)
    assert [cite.text for cite in finding.cites] == [
        "V cache q8_0: unreadable", "V cache f16: readable"
    ]  # fmt: skip


def test_is_silent_when_the_text_is_wrong_either_way() -> None:
    checks = (
        answer("q8_0", is_readable=False),
        answer("f16", is_readable=False),
        answer("bf16", is_readable=True),
    )
    assert check(Evidence(text_checks=checks)) is None


def test_needs_two_answers() -> None:
    assert "two cache types" in needs(Evidence(text_checks=(answer("q8_0", is_readable=False),)))
