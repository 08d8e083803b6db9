"""The vision part is missing from the sum only in some builds, and where little room is left."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.machine import Machine
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules.projector_not_counted import check, silent
from tests.rules import made

ENOUGH = made.event(Fact.FIT_ENOUGH, 4, "no changes needed", left_mib=1100, target_mib=1024)
OLD = replace(
    made.seen(made.story(ENOUGH), request=LoadRequest(projector_path="mmproj.gguf")),
    runtime_version="7474",
)


def test_asks_for_an_update_or_a_margin() -> None:
    finding = check(OLD)
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "Update" in finding.fix.text
    assert "-fitt 4096" in finding.fix.command


def test_is_only_possible_when_requests_were_answered() -> None:
    run = BenchRun(Test.GENERATION, 128, (20.0, 21.0), "llama-server")
    finding = check(replace(OLD, runs=(run,)))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


def test_is_silent_when_one_card_has_room_for_any_vision_part() -> None:
    roomy = made.event(Fact.FIT_ENOUGH, 4, "no changes needed", left_mib=9000, target_mib=1024)
    log = made.seen(made.story(roomy)).log
    one = Machine(facts=(facts.known("gpu.0.name", "RTX 4090", source="NVML"),))
    assert check(replace(OLD, log=log, machine=one)) is None
    assert check(replace(OLD, log=log)) is not None


@pytest.mark.parametrize(
    "evidence",
    [replace(OLD, runtime_version="9000"), replace(OLD, request=LoadRequest())],
    ids=["later build", "no pictures"],
)
def test_is_silent_when_it_is_counted_or_not_there(evidence: Evidence) -> None:
    assert check(evidence) is None
    assert bool(silent(evidence)) is bool(evidence.request and evidence.request.projector_path)
