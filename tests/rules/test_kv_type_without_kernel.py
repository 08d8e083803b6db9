"""Cache types without code on the GPU are named by a rate, or by the warning of later builds."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules.kv_type_without_kernel import check, silent
from tests.rules import made


def run(types: str, tps: float) -> BenchRun:
    """Make a prompt rate."""
    settings = (("type_k", types), ("type_v", types))
    return BenchRun(Test.PROMPT, 512, (tps,), "llama-bench", settings, backends="CUDA")


REQUEST = LoadRequest(cache_type_k="q5_1", cache_type_v="q5_1")
RUNS = (run("q8_0", 1511), run("q5_1", 197))
SEEN = Evidence(request=REQUEST, runs=RUNS, runtime_version="10819")


def test_is_likely_when_other_types_read_the_prompt_faster() -> None:
    finding = check(SEEN)
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert finding.fix.command == "llama-server -m MODEL.gguf -ctk q8_0 -ctv q8_0"


def test_is_only_possible_without_a_second_rate() -> None:
    finding = check(replace(SEEN, runs=RUNS[1:]))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


def test_is_proven_when_a_later_build_warns() -> None:
    line = made.event(Fact.KV_CONVERTED, 9, "no FlashAttention vector kernel compiled")
    finding = check(made.seen(made.story(line)))
    assert finding is not None and finding.certainty is Certainty.PROVEN


def test_is_silent_when_the_types_are_fine_or_the_build_would_warn() -> None:
    fine = replace(SEEN, request=LoadRequest(cache_type_k="q8_0", cache_type_v="q8_0"))
    assert check(fine) is None
    assert "have code on every GPU" in silent(fine)
    assert check(replace(SEEN, runtime_version="11434")) is None
