"""A build without AVX2 is a fault only where the processor has it and computes."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact, Role
from app.core.machine import Machine
from app.core.rule import Certainty
from app.rules.instructions_missing import check, silent
from tests.rules import made

PLAIN = "CPU : SSE3 = 1 | SSSE3 = 1 | LLAMAFILE = 1 |"
CARD = made.buffer("CUDA0", Role.WEIGHTS, 4000, 100)
HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 2000, 101)


def load(features: str, *sets: str, n: int = 20) -> Evidence:
    """Make evidence of a load with its line system_info."""
    info = made.event(Fact.SYSTEM_INFO, 5, "system_info", features=features, threads=6, cores=12)
    evidence = made.seen(made.story(made.offloaded(n, 41), buffers=(CARD, HOST)), info)
    found = facts.known("cpu.instruction_sets", sets, source="test")
    return replace(evidence, machine=Machine(facts=(found,)) if sets else None)


def test_is_proven_when_the_processor_has_what_the_build_lacks() -> None:
    finding = check(load(PLAIN, "avx", "avx2"))
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert "AVX2" in finding.fix.text


def test_is_likely_when_the_processor_is_not_known() -> None:
    finding = check(load(PLAIN))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "if this processor has AVX2" in finding.fix.text


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        (load(PLAIN, "avx"), "lacks these instructions too"),
        (load(PLAIN + " AVX2 = 1", "avx2"), "has the instructions"),
        (load(PLAIN, "avx2", n=41), "nothing is computed"),
    ],
)
def test_is_silent_when_it_does_not_matter(evidence: Evidence, why: str) -> None:
    assert check(evidence) is None
    assert why in silent(evidence)
