"""Two programs with two settings are told apart from two programs with two speeds."""

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.rules.settings_differ import check, needs, silent


def run(program: str, tps: float, layers: str) -> BenchRun:
    """Make a generation rate."""
    return BenchRun(Test.GENERATION, 128, (tps,), program, (("n_gpu_layers", layers),))


def test_names_the_settings_that_differ() -> None:
    finding = check(Evidence(runs=(run("llama-bench", 60, "-1"), run("llama-server", 20, "12"))))
    assert finding is not None
    assert "n_gpu_layers -1 against 12" in finding.cause
    assert finding.fix.command == "llama-bench -m MODEL.gguf -ngl 12 -r 5"


def test_is_silent_when_the_settings_are_equal() -> None:
    evidence = Evidence(runs=(run("llama-bench", 60, "-1"), run("llama-server", 20, "-1")))
    assert check(evidence) is None
    assert silent(evidence)
    assert "two programs" in needs(Evidence(runs=evidence.runs[:1]))
