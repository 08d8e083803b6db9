"""A rate that was measured on battery or with a saving profile is named."""

import pytest

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.machine import Machine, MachineFact
from app.rules.power_saving import check, silent

RUN = BenchRun(Test.GENERATION, 128, (20.0,), "llama-bench")
BATTERY = facts.known("power.is_mains", False, source="test")
SAVER = facts.known("power.profile", "power saver", source="test")


@pytest.mark.parametrize(("fact", "word"), [(BATTERY, "battery"), (SAVER, "power saver")])
def test_names_the_state_when_it_was_measured(fact: MachineFact, word: str) -> None:
    finding = check(Evidence(machine=Machine(facts=(fact,)), runs=(RUN,)))
    assert finding is not None
    assert word in finding.cause
    assert finding.cites


def test_is_silent_when_plugged_in_or_nothing_was_measured() -> None:
    plugged = (facts.known("power.is_mains", True, source="test"),
               facts.known("power.profile", "balanced", source="test"))  # fmt: skip
    assert check(Evidence(machine=Machine(facts=plugged), runs=(RUN,))) is None
    idle = Evidence(machine=Machine(facts=(BATTERY,)))
    assert check(idle) is None
    assert "nothing was measured" in silent(idle)
