"""A rate that falls when layers are added means an overfull card, where memory can move."""

from app.core import facts
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.machine import Machine
from app.rules.one_layer_too_many import UNIFIED, check, silent

WINDOWS = Machine(facts=(facts.known("os.name", "Windows 11", source="test"),))
LINUX = Machine(facts=(facts.known("os.name", "Ubuntu", source="test"),))


def run(layers: int, tps: float) -> BenchRun:
    """Make a generation rate."""
    return BenchRun(Test.GENERATION, 128, (tps,), "llama-bench", (("n_gpu_layers", str(layers)),))


FALLEN = (run(40, 18.3), run(44, 6.0))


def test_takes_two_layers_back() -> None:
    finding = check(Evidence(machine=WINDOWS, runs=FALLEN))
    assert finding is not None
    assert "-ngl 42" in finding.fix.command


def test_holds_on_linux_only_with_unified_memory() -> None:
    plain = Evidence(machine=LINUX, runs=FALLEN)
    assert check(plain) is None
    assert "an overfull card fails" in silent(plain)
    assert check(Evidence(machine=LINUX, runs=FALLEN, variables=((UNIFIED, "1"),))) is not None


def test_is_silent_when_more_layers_are_faster() -> None:
    evidence = Evidence(machine=WINDOWS, runs=(run(40, 18.3), run(44, 24.0)))
    assert check(evidence) is None
    assert silent(evidence)
