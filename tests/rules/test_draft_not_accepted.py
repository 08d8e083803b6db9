"""Guesses that are seldom accepted are named, and never as proven."""

from app.core.log import Fact, LogEvent
from app.core.rule import Certainty
from app.rules.draft_not_accepted import check, silent
from tests.rules import made


def accepted(rate: float) -> LogEvent:
    """Make the acceptance line."""
    return made.event(Fact.DRAFT_ACCEPTANCE, 7, f"accept = {rate:.0%}", rate=rate)


def test_guesses_fewer_when_many_are_drafted() -> None:
    longest = made.event(Fact.DRAFT_MAX, 3, "n_draft = 16", n=16)
    finding = check(made.seen(made.story(longest, accepted(0.3432))))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "34 %" in finding.cause
    assert finding.fix.command == "--spec-draft-n-max 4"


def test_switches_it_off_when_few_are_drafted() -> None:
    finding = check(made.seen(made.story(accepted(0.2))))
    assert finding is not None
    assert finding.fix.command == "--spec-type none"


def test_is_silent_when_most_are_accepted() -> None:
    evidence = made.seen(made.story(accepted(0.7)))
    assert check(evidence) is None
    assert silent(evidence) == "70 % of the guessed tokens were accepted"
