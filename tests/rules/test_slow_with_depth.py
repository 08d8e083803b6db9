"""A rate that falls with the depth is explained by the cache's bytes, or left alone."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact
from app.rules.slow_with_depth import check, needs, silent
from tests.rules import made

# 4 GiB of cache for 32768 tokens beside 4 GiB of weights: twice as slow at that depth
SIZE = made.event(Fact.KV_SIZE, 5, "size = 4096 MiB", mib=4096.0, cells=32768)
LOAD = made.seen(made.story(SIZE, n_ctx=32768, cache_type_k="f16", cache_type_v="f16"))


def runs(short: float, long: float) -> tuple[BenchRun, ...]:
    """Make a rate at the start and one behind 32768 tokens."""
    return tuple(
        BenchRun(Test.GENERATION, 128, (tps,), "llama-bench", depth=depth, model_bytes=4 << 30)
        for depth, tps in ((0, short), (32768, long))
    )


def test_takes_a_smaller_cache_when_the_bytes_explain_it() -> None:
    finding = check(replace(LOAD, runs=runs(80.0, 41.0)))
    assert finding is not None
    assert "explains 2.0" in finding.cause
    assert "-ctk q8_0" in finding.fix.command


def test_is_silent_when_it_falls_far_more() -> None:
    evidence = replace(LOAD, runs=runs(80.0, 8.0))
    assert check(evidence) is None
    assert silent(evidence)


def test_needs_two_depths() -> None:
    assert "two depths" in needs(Evidence(runs=runs(80.0, 41.0)[:1]))
