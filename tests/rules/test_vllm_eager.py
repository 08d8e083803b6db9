"""Eager mode is named only where the start says True."""

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary
from app.rules.vllm_eager import check, silent
from tests.rules import made


def start(state: str) -> Evidence:
    """Make evidence of a start."""
    line = made.event(Fact.VLLM_EAGER, 1, f"enforce_eager={state}", state=state)
    return Evidence(log=LogSummary("vllm.log", 3, events=(line,)))


def test_removes_the_flag_when_it_is_on() -> None:
    finding = check(start("True"))
    assert finding is not None
    assert "Remove --enforce-eager" in finding.fix.text


def test_is_silent_when_graphs_are_prepared() -> None:
    assert check(start("False")) is None
    assert silent(start("False")) == "vLLM prepares graphs"
