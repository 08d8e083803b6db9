"""A long prompt is told from slow writing by the two times of a request."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact
from app.rules.slow_to_start import check, silent
from tests.rules import made


def request(prompt_ms: float, n: int = 1294) -> Evidence:
    """Make evidence of one request."""
    prompt = made.event(Fact.PROMPT_RATE, 3, "prompt eval time", ms=prompt_ms, n=n, tps=8.8)
    answer = made.event(Fact.GENERATION_RATE, 4, "eval time", ms=15896.0, n=64, tps=4.0)
    return made.seen(made.story(prompt, answer))


def test_splits_the_time_when_the_prompt_takes_most_of_it() -> None:
    finding = check(request(146712.0))
    assert finding is not None
    assert "147 s of 163 s" in finding.cause
    assert "shorter prompt" in finding.fix.text


def test_asks_for_headroom_when_the_host_alone_reads_it_faster() -> None:
    alone = BenchRun(Test.PROMPT, 1245, (115.7,), "report", (("n_gpu_layers", "0"),))
    finding = check(replace(request(146712.0), runs=(alone,)))
    assert finding is not None
    assert "headroom" in finding.fix.text


def test_is_silent_when_the_wait_is_short_or_the_prompt_tiny() -> None:
    for evidence in (request(5000.0), request(146712.0, n=17)):
        assert check(evidence) is None
        assert silent(evidence)
