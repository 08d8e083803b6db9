"""Each of vLLM's messages about memory leads to the setting that it is about."""

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary, Value
from app.rules.vllm_memory import check, silent
from tests.rules import made


def start(**values: Value) -> Evidence:
    """Make evidence of a start that failed."""
    line = made.event(Fact.VLLM_MEMORY, 3, "ValueError", **values)
    return Evidence(log=LogSummary("vllm.log", 3, events=(line,)))


@pytest.mark.parametrize(
    ("values", "command"),
    [
        ({"kind": "length", "asked": 4096, "stored": 3664}, "--max-model-len 3584"),
        ({"kind": "length", "asked": 4096, "stored": 200}, "--max-model-len 200"),
        ({"kind": "no-space"}, "--gpu-memory-utilization 0.96"),
        (
            {"kind": "utilisation", "free": 20.0, "total": 24.0, "share": 0.9},
            "--gpu-memory-utilization 0.83",
        ),
    ],
)
def test_names_the_setting_when_the_memory_does_not_suffice(
    values: dict[str, Value], command: str
) -> None:
    finding = check(start(**values))
    assert finding is not None
    assert finding.fix.command == command
    assert finding.cites[0].line == 3


def test_is_silent_when_vllm_started() -> None:
    evidence = Evidence(log=LogSummary("vllm.log", 3))
    assert check(evidence) is None
    assert silent(evidence) == ""
