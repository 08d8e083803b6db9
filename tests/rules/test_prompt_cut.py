"""A prompt that does not fit leads to a context that holds it and an answer."""

from app.core.log import Fact, LogEvent
from app.rules.prompt_cut import check, silent
from tests.rules import made

CUT = made.event(
    Fact.CONTEXT_TRUNCATED, 1, "source=runner.go msg=truncating input prompt", limit=2048, n=3858
)
REFUSED = made.event(Fact.REQUEST_TOO_LONG, 9, "exceeds the available context", n=1982, n_ctx=512)


def sized() -> LogEvent:
    """Make the cache's line of a context of 512."""
    return made.event(Fact.KV_SIZE, 5, "size = 18 MiB", mib=18.0, cells=512)


def test_raises_num_ctx_when_ollama_cut_the_prompt() -> None:
    finding = check(made.seen(made.story(CUT)))
    assert finding is not None
    assert "3,858 tokens" in finding.cause and "2,048" in finding.cause
    assert "PARAMETER num_ctx 8192" in finding.fix.command


def test_says_what_it_costs_when_the_cache_lines_are_there() -> None:
    finding = check(made.seen(made.story(sized(), REFUSED, n_ctx=512)))
    assert finding is not None
    assert "refused" in finding.cause
    assert "-c 4096" in finding.fix.command
    assert "144 MiB" in finding.fix.text  # 18 MiB for 512


def test_is_silent_when_the_answer_was_cut() -> None:
    ended = made.event(Fact.CONTEXT_TRUNCATED, 1, "truncated = 1", n=256)
    evidence = made.seen(made.story(ended))
    assert check(evidence) is None
    assert silent(evidence)
