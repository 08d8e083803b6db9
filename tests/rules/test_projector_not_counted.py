"""The vision part is missing from the sum only in some builds, and matters once memory ran out."""

from dataclasses import replace

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.core.symptom import Symptom
from app.rules.projector_not_counted import check, silent
from tests.rules import made

ENOUGH = made.event(Fact.FIT_ENOUGH, 4, "no changes needed", left_mib=1100, target_mib=1024)
OLD = replace(
    made.seen(made.story(ENOUGH), request=LoadRequest(projector_path="mmproj.gguf")),
    runtime_version="7474",
    symptom=Symptom.OUT_OF_MEMORY_LATER.value,
)


def test_asks_for_an_update_or_a_margin() -> None:
    finding = check(OLD)
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "Update" in finding.fix.text
    assert "-fitt 4096" in finding.fix.command


def test_is_only_possible_when_memory_did_not_run_out() -> None:
    finding = check(replace(OLD, symptom=""))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


@pytest.mark.parametrize(
    "evidence",
    [replace(OLD, runtime_version="9000"), replace(OLD, request=LoadRequest())],
    ids=["later build", "no pictures"],
)
def test_is_silent_when_it_is_counted_or_not_there(evidence: Evidence) -> None:
    assert check(evidence) is None
    assert bool(silent(evidence)) is bool(evidence.request and evidence.request.projector_path)
