"""Bytes read per second tell a backend that fails on one model from a card that is slow."""

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.rules.slow_backend import check, needs, silent


def run(name: str, gb: float, tps: float, layers: str = "99") -> BenchRun:
    """Make a generation rate."""
    return BenchRun(Test.GENERATION, 128, (tps,), "llama-bench", (("n_gpu_layers", layers),),
                    model_name=name, model_bytes=int(gb * 1e9), backends="Vulkan")  # fmt: skip


def test_compares_the_bandwidth_of_two_models() -> None:
    finding = check(Evidence(runs=(run("4B", 2.5, 183), run("8B", 5.0, 21))))
    assert finding is not None
    assert "105.0 GB/s" in finding.cause and "457.5 GB/s" in finding.cause
    assert "HIP (ROCm)" in finding.fix.text


def test_is_silent_when_the_bandwidths_are_alike() -> None:
    evidence = Evidence(runs=(run("4B", 2.5, 180), run("8B", 5.0, 85)))
    assert check(evidence) is None
    assert silent(evidence)


def test_leaves_out_partial_offload_and_mixtures_of_experts() -> None:
    partial = Evidence(runs=(run("4B", 2.5, 183), run("8B", 5.0, 21, "20")))
    sparse = Evidence(runs=(run("30B-A3B", 18.0, 150), run("32B", 19.0, 25)))
    assert check(partial) is None and check(sparse) is None
    assert "two model files" in needs(partial)
