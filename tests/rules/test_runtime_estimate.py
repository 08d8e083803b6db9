"""A plan that leaves layers out by itself is told from one that was asked for."""

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary, Value
from app.core.rule import Certainty
from app.rules import layers_moved_by_fit, load_failed
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


def test_leaves_a_model_that_does_not_fit_to_its_own_rule() -> None:
    short = plan(required=9000.0, kv=2000.0)
    assert check(short) is None
    assert "above what is free" in silent(short)
    finding = layers_moved_by_fit.check(short)
    assert finding is not None and "35 of 35 layers" in finding.cause
    assert "smaller file" in finding.fix.text
    enough = layers_moved_by_fit.check(plan(required=9000.0, kv=8000.0))
    assert enough is not None and "with less of it all layers fit" in enough.fix.text


GUARD = "Model loading was stopped due to insufficient system resources. approximately "


@pytest.mark.parametrize(
    ("text", "words"),
    [(f"{GUARD}273.25 GB", "shorter context"), (f"{GUARD}NaN undefined", "Update")],
)
def test_tells_a_guess_from_memory_that_was_refused(text: str, words: str) -> None:
    line = made.event(Fact.ERROR_MEMORY, 1, text)
    evidence = Evidence(log=LogSummary("app.log", 2, events=(line,)), runtime="lm-studio")
    finding = check(evidence)
    assert finding is not None and words in finding.fix.text
    assert load_failed.check(evidence) is None
    ready = made.event(Fact.LOADED, 2, "model loaded")
    later = Evidence(log=LogSummary("app.log", 3, events=(line, ready)), runtime="lm-studio")
    assert check(later) is None
