"""The open cases: public reports must come out as their readers settled them."""

import json
from dataclasses import replace

import pytest

from app.core.symptom import Symptom
from app.rules import judge
from tests.rules import cases

ALL = cases.cases()


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_names_the_fault_and_the_first_fix_of_a_report(case: cases.Case) -> None:
    score = cases.score(case)
    verdict = score.found.verdict
    if not case.rule:
        assert verdict is None
        assert score.said == (), "this must not be said here"
        return
    assert verdict is not None, [ruled.because for ruled in score.found.not_checked]
    assert verdict.rule_id == case.rule
    assert score.has_evidence, f"{verdict.cites} lack one of {case.evidence_words}"
    assert score.is_fix, f"{verdict.fix} lacks one of {case.fix_words}"
    assert score.is_careful, "the report is not settled, so nothing may be called proven"
    assert score.said == (), "this must not be said here"
    assert not any(finding.title == "This check failed" for finding in score.found.also)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_gives_the_same_verdict_whatever_the_user_says_to_see(case: cases.Case) -> None:
    evidence = case.evidence()
    expected = judge.diagnose(replace(evidence, symptom="")).verdict
    for symptom in Symptom:
        assert judge.diagnose(replace(evidence, symptom=symptom.value)).verdict == expected


def test_scores_all_cases(capsys: pytest.CaptureFixture[str]) -> None:
    scores = [cases.score(case) for case in ALL]
    groups = {
        "open cases": [s.points for s in scores if cases.is_open(s.case)],
        "public reports": [s.points for s in scores if not cases.is_open(s.case)],
    }
    for name, points in groups.items():
        with capsys.disabled():
            print(f"\n{name}: {sum(points):g} of {len(points)} points")
    assert all(score.points == 1 for score in scores)


def test_table_maps_each_case_to_a_rule_that_exists() -> None:
    assert {case.rule for case in ALL if case.rule} <= {rule.id for rule in judge.rules()}
    folders = {path.name for path in cases.FOLDER.iterdir() if path.is_dir()}
    assert folders == {case.id for case in ALL}


def test_evidence_holds_nothing_of_the_answer() -> None:
    for case in ALL:
        given = (cases.FOLDER / case.id / "evidence.json").read_text(encoding="utf-8")
        expected = json.loads((cases.FOLDER / case.id / "expected.json").read_text("utf-8"))
        assert expected["fault"] not in given
        assert expected["first_fix"] not in given
        assert not case.rule or case.rule not in given
