"""One channel or a low speed is named where the processor reads weights."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Role
from app.core.machine import Machine, MachineFact
from app.rules.slow_memory import check, silent
from tests.rules import made

HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 20000, 101)
ONE = facts.known("memory.channels", 1, source="test")
TWO = facts.known("memory.channels", 2, source="test")
DDR5 = facts.known("memory.modules", ("16 GiB DDR5",), source="test")
SOLDERED = facts.known("memory.modules", ("16 GiB LPDDR5",), source="test")
SLOW = facts.known("memory.speed", 4800, source="test")
RATED = facts.known("memory.speed_rated", 6000, source="test")


def load(*more: MachineFact) -> Evidence:
    """Make evidence of a load on the host."""
    return replace(made.seen(made.story(buffers=(HOST,))), machine=Machine(facts=more))


@pytest.mark.parametrize(
    ("evidence", "fix"),
    [(load(ONE, DDR5), "second module"), (load(TWO, DDR5, SLOW, RATED), "XMP or EXPO")],
)
def test_names_what_the_memory_lacks(evidence: Evidence, fix: str) -> None:
    finding = check(evidence)
    assert finding is not None
    assert fix in finding.fix.text


def test_is_silent_when_soldered_or_as_it_should_be() -> None:
    assert check(load(ONE, SOLDERED)) is None
    assert check(load(TWO, DDR5)) is None
    assert silent(load(TWO, DDR5))
    assert check(Evidence(machine=Machine(facts=(ONE, DDR5)))) is None
