"""The judge: order, what is ruled out, what a broken check does."""

import logging
from dataclasses import replace

import pytest

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, MemoryWatch
from app.core.rule import Certainty, Finding, Fix, Rule
from app.core.symptom import Symptom
from app.logs import scan
from app.rules import judge, order
from tests.rules.test_captures import LOGS


def finding(certainty: Certainty = Certainty.PROVEN) -> Finding:
    """Make a finding that says little."""
    return Finding("cause", (), Fix("fix"), "proof", certainty)


def rule(name: str, answer: Finding | None, *, missing: str = "", rate: bool = False) -> Rule:
    """Make a rule with a fixed answer."""
    return Rule(
        id=name,
        title=name.upper(),
        check=lambda _evidence: answer,
        silent=lambda _evidence: f"{name} was seen to be fine",
        needs=lambda _evidence: missing,
        rests_on_rate=rate,
    )


def busy() -> Evidence:
    """Return evidence of a machine in use."""
    return Evidence(watch=MemoryWatch(5.0, 10, other_cpu_max=1.5, cores=2, source="psutil"))


def test_first_match_is_the_verdict_when_several_match() -> None:
    chosen = (rule("a", None), rule("b", finding()), rule("c", finding()))
    found = judge.diagnose(Evidence(), chosen)
    assert found.verdict is not None and found.verdict.rule_id == "b"
    assert [f.rule_id for f in found.also] == ["c"]
    assert [(r.rule_id, r.because) for r in found.ruled_out] == [("a", "a was seen to be fine")]


def test_nothing_found_when_nothing_matches() -> None:
    found = judge.diagnose(Evidence(), (rule("a", None), rule("b", None, missing="no log")))
    assert found.verdict is None and found.also == ()
    assert [r.rule_id for r in found.ruled_out] == ["a"]
    assert [(r.title, r.because) for r in found.not_checked] == [("B", "no log")]


def test_unproven_finding_stands_beside_when_nothing_else_matches() -> None:
    found = judge.diagnose(Evidence(), (rule("a", finding(Certainty.NOT_PROVEN)),))
    assert found.verdict is None
    assert [f.rule_id for f in found.also] == ["a"]


def test_others_still_answer_when_one_check_fails(caplog: pytest.LogCaptureFixture) -> None:
    def explode(_evidence: Evidence) -> Finding | None:
        raise KeyError("n")

    broken = Rule(id="broken", title="Broken", check=explode)
    with caplog.at_level(logging.WARNING):
        found = judge.diagnose(Evidence(), (broken, rule("b", finding())))
    assert found.verdict is not None and found.verdict.rule_id == "b"
    assert found.also[0].title == "This check failed"
    assert "KeyError" in found.also[0].cause
    assert "rule broken failed" in caplog.text


def test_rate_rules_wait_when_the_machine_was_busy() -> None:
    chosen = (rule("slow", finding(), rate=True), rule("placed", finding()))
    found = judge.diagnose(busy(), chosen)
    assert found.verdict is not None and found.verdict.rule_id == "placed"
    assert [r.rule_id for r in found.not_checked] == ["slow"]
    assert judge.diagnose(Evidence(), chosen).verdict == replace(
        finding(), rule_id="slow", title="SLOW"
    )


def test_busy_machine_is_the_verdict_when_nothing_else_is_known() -> None:
    found = judge.diagnose(busy())
    assert found.verdict is not None and found.verdict.rule_id == "machine-busy"
    assert "75 %" in found.verdict.cites[0].text


def test_busy_run_is_cited_when_the_benchmark_noted_it() -> None:
    run = BenchRun(Test.GENERATION, 128, (20.0, 21.0), "llama-bench", busy="load 1.4 of 2 cores")
    found = judge.diagnose(Evidence(runs=(run,)))
    assert found.verdict is not None
    assert found.verdict.cites[0].text == "load 1.4 of 2 cores"


def test_every_rule_answers_when_there_is_no_evidence() -> None:
    found = judge.diagnose(Evidence())
    assert found.verdict is None and found.also == ()
    assert {r.rule_id for r in found.not_checked} == {rule.id for rule in judge.rules()}
    assert all(r.because for r in found.not_checked)


def test_rules_stand_in_the_order_of_the_list() -> None:
    assert [rule.id for rule in judge.rules()] == [
        name for name in order.ORDER if name in {rule.id for rule in judge.rules()}
    ]
    assert len(set(order.ORDER)) == len(order.ORDER)
    assert all(group.reason and group.rules for group in order.GROUPS)


def test_leaves_out_what_is_beside_the_point() -> None:
    beside = replace(rule("vllm", None), silent=lambda _evidence: "")
    found = judge.diagnose(Evidence(), (beside, rule("a", None)))
    assert [ruled.rule_id for ruled in found.ruled_out] == ["a"]


def test_names_the_rivals_of_the_verdict_first() -> None:
    log = scan.scan_file(LOGS / "b10434-vulkan-partial-ngl9-lv4.log")
    found = judge.diagnose(Evidence(log=log))
    near = [ruled.rule_id for ruled in found.ruled_out if ruled.is_near]
    assert "kv-on-host" in near and "load-failed" not in near
    assert [ruled.is_near for ruled in found.ruled_out] == sorted(
        (ruled.is_near for ruled in found.ruled_out), reverse=True
    )
    asked = judge.diagnose(Evidence(log=log, symptom="no-load"))
    assert asked.verdict == found.verdict
    assert "load-failed" in [ruled.rule_id for ruled in asked.ruled_out if ruled.is_near]


def test_every_symptom_points_at_groups_that_exist() -> None:
    assert set(order.CONCERNS) == {symptom.value for symptom in Symptom}
    titles = {group.title for group in order.GROUPS}
    assert all(set(names) <= titles for names in order.CONCERNS.values())
