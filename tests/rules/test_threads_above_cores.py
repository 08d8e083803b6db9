"""More threads than cores is named where the processor computes, best by two rates."""

from dataclasses import replace

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Role
from app.core.machine import Machine
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules.threads_above_cores import check, silent
from tests.rules import made

EIGHT = Machine(facts=(facts.known("cpu.physical", 8, source="test"),))
CARD = made.buffer("CUDA0", Role.WEIGHTS, 4000, 100)
HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 2000, 101)


def run(threads: int, *tps: float) -> BenchRun:
    """Make a generation rate."""
    return BenchRun(Test.GENERATION, 128, tps, "llama-bench", (("n_threads", str(threads)),))


def load(n: int) -> Evidence:
    """Make evidence of a load with sixteen threads."""
    evidence = made.seen(made.story(made.offloaded(n, 41), buffers=(CARD, HOST)))
    return replace(evidence, machine=EIGHT, request=LoadRequest(threads=16))


def test_is_proven_when_fewer_threads_are_faster_by_interval() -> None:
    runs = (run(16, 0.82, 0.83, 0.84), run(7, 6.5, 6.56, 6.6))
    finding = check(Evidence(machine=EIGHT, runs=runs))
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert "-t 7" in finding.fix.command


def test_is_likely_when_only_the_setting_is_known() -> None:
    finding = check(load(30))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "16 threads compute on 8 cores" in finding.cause


def test_is_silent_when_all_is_on_the_card_or_the_threads_are_few() -> None:
    assert check(load(41)) is None
    assert "do not matter" in silent(load(41))
    assert check(replace(load(30), request=LoadRequest(threads=8))) is None
