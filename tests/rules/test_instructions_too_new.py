"""A crash at an unknown instruction is told by its words, in the log or as the exit code."""

from app.core.evidence import Evidence, LoadOutcome
from app.core.log import Fact
from app.rules.instructions_too_new import check, silent
from tests.rules import made


def crashed(text: str) -> Evidence:
    """Make evidence of a crash."""
    return made.seen(made.story(made.event(Fact.CRASHED, 3, text)))


def test_names_the_build_when_the_processor_lacks_an_instruction() -> None:
    finding = check(crashed("Illegal instruction (core dumped)"))
    assert finding is not None
    assert "older processors" in finding.fix.text
    assert finding.cites[0].line == 3


def test_reads_the_exit_code_of_windows() -> None:
    outcome = LoadOutcome(("llama-server",), "llama-server", False, "exit code 0xC000001D")
    finding = check(Evidence(outcome=outcome))
    assert finding is not None and finding.cites[0].source == "llama-server"


def test_is_silent_when_it_crashed_otherwise() -> None:
    evidence = crashed("Segmentation fault (core dumped)")
    assert check(evidence) is None
    assert silent(evidence) == ""
