"""A full context is named, with a longer one where the model was trained for it."""

from app.core.log import Fact, LogEvent
from app.rules.context_full import check, needs, silent
from tests.rules import made

CUT = made.event(Fact.CONTEXT_TRUNCATED, 15, "n_tokens = 255, truncated = 1", n=255)
SHIFT = made.event(Fact.CONTEXT_TRUNCATED, 12, "slot context shift, n_keep = 1", shift="shift")


def _cause(*events: LogEvent, n_ctx: int) -> str:
    finding = check(made.seen(made.story(*events, n_ctx=n_ctx)))
    assert finding is not None
    return finding.cause


def test_says_that_the_answer_was_cut_when_the_context_was_full() -> None:
    finding = check(made.seen(made.story(CUT, n_ctx=256)))
    assert finding is not None
    assert "256 tokens was full" in finding.cause and "answer was cut" in finding.cause
    assert "-c 512" in finding.fix.command
    assert [cite.line for cite in finding.cites] == [15]


def test_counts_all_requests_when_the_context_is_divided() -> None:
    finding = check(made.seen(made.story(CUT, n_ctx=1024, n_ctx_slot=256)))
    assert finding is not None
    assert "512 tokens a request" in finding.fix.text
    assert "-c 2048" in finding.fix.command


def test_says_that_old_text_is_gone_when_the_context_was_shifted() -> None:
    assert "oldest text was thrown away once" in _cause(SHIFT, CUT, n_ctx=256)
    assert "thrown away 2 times" in _cause(SHIFT, SHIFT, n_ctx=256)


def test_says_that_the_prompt_was_cut_when_an_old_server_did() -> None:
    old = made.event(Fact.CONTEXT_TRUNCATED, 9, "input truncated, n_ctx = 512")
    assert "A part of the prompt was left out" in _cause(old, n_ctx=512)


def test_does_not_go_beyond_the_trained_length() -> None:
    finding = check(made.seen(made.story(CUT, n_ctx=4096, n_ctx_train=4096)))
    assert finding is not None
    assert not finding.fix.command
    assert "as long as the model was trained for (4,096 tokens)" in finding.fix.text


def test_leaves_a_cut_prompt_to_its_own_rule() -> None:
    cut = made.event(Fact.CONTEXT_TRUNCATED, 1, "truncating input prompt", limit=2048, n=3858)
    evidence = made.seen(made.story(cut))
    assert check(evidence) is None
    assert silent(evidence)
    assert not needs(evidence)
