"""Guesses that are seldom accepted are named, and never as proven."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent, LogSummary
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


def test_is_silent_when_it_was_measured_to_be_faster() -> None:
    line = made.event(Fact.DRAFT_ACCEPTANCE, 5, "accept = 35.6%", rate=0.356)
    runs = tuple(
        BenchRun(Test.GENERATION, 129, (tps,), "llama-cli", settings=(("draft", name),))
        for tps, name in ((0.44, "none"), (0.52, "7b"))
    )
    evidence = Evidence(log=LogSummary("m.log", 6, events=(line,)), runs=runs)
    assert check(evidence) is None
    assert silent(evidence) == "it is faster with it than without, by what was measured"
    assert check(replace(evidence, runs=runs[:1])) is not None
