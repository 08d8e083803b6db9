"""A plan that leaves layers out by itself is told from one that was asked for."""

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary, Value
from app.core.rule import Certainty
from app.rules.runtime_estimate import check, silent
from tests.rules import made

PLAN: dict[str, Value] = {
    "library": "cuda", "requested": -1, "layers": 35, "offload": 0, "free": 3276.8,
    "required": 2662.4, "graph": 1024.0, "projector": 795.9, "vision": 1024.0,
}  # fmt: skip


def plan(**more: Value) -> Evidence:
    """Make evidence of Ollama's plan."""
    line = made.event(Fact.OFFLOAD_PLAN, 1, "msg=offload library=cuda", **{**PLAN, **more})
    return Evidence(log=LogSummary("server.log", 3, events=(line,)))


def test_adds_the_vision_part_when_the_plan_has_one() -> None:
    finding = check(plan())
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "2.78 GiB" in finding.cause  # 795.9 + 1024 + 1024 MiB
    assert "PARAMETER num_gpu 10" in finding.fix.command


@pytest.mark.parametrize(
    ("more", "why"),
    [({"requested": 10}, "asked for"), ({"offload": 35}, "all layers")],
)
def test_is_silent_when_it_was_asked_for_or_all_fits(more: dict[str, Value], why: str) -> None:
    evidence = plan(**more)
    assert check(evidence) is None
    assert why in silent(evidence)
