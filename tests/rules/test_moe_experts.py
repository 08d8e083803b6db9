"""Experts on the host beside whole layers on the host: by rates, or by header and log."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Role
from app.core.model import Model
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules.moe_experts import check, silent
from tests.rules import made

MOE = Model("m", "qwen3moe", 3, False, {"qwen3moe.expert_count": 128}, (), ())
HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 9000, 100)
CARD = made.buffer("CUDA0", Role.WEIGHTS, 9000, 101)


def run(tps: tuple[float, ...], **settings: str) -> BenchRun:
    """Make a generation rate."""
    return BenchRun(Test.GENERATION, 128, tps, "llama-bench", tuple(settings.items()))


def test_takes_the_experts_to_the_host_when_that_is_faster() -> None:
    slow = run((14.5, 14.6, 14.7), n_gpu_layers="0")
    fast = run((36.4, 36.5, 36.6), n_gpu_layers="99", n_cpu_moe="40")
    finding = check(Evidence(runs=(slow, fast)))
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert "2.5 times" in finding.cause
    assert finding.fix.command == "llama-server -m MODEL.gguf -cmoe"


def test_is_likely_when_only_header_and_log_are_known() -> None:
    evidence = made.seen(made.story(made.offloaded(20, 49), buffers=(HOST, CARD)))
    finding = check(replace(evidence, model=MOE))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "128 experts" in finding.cause


def test_is_silent_when_dense_or_when_experts_were_moved() -> None:
    evidence = made.seen(made.story(made.offloaded(20, 49), buffers=(HOST, CARD)))
    dense = replace(evidence, model=replace(MOE, keys={}))
    assert check(dense) is None
    assert silent(dense) == "the model has no experts"
    assert check(replace(evidence, model=MOE, request=LoadRequest(n_cpu_moe=30))) is None
