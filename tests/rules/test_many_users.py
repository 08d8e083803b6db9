"""Requests that overfill the context together are told by the server's own line."""

from app.core.log import Fact
from app.rules.many_users import check, silent
from tests.rules import made

FULL = made.event(Fact.KV_POOL_FULL, 60, "failed to find free space in the KV cache")


def test_doubles_the_context() -> None:
    finding = check(made.seen(made.story(FULL, n_ctx=8192)))
    assert finding is not None
    assert "-c 16384" in finding.fix.command


def test_offers_both_ways_when_the_context_is_not_known() -> None:
    finding = check(made.seen(made.story(FULL)))
    assert finding is not None
    assert "-np" in finding.fix.text and finding.fix.command == ""


def test_is_silent_when_the_cache_sufficed() -> None:
    assert check(made.seen(made.story())) is None
    assert silent(made.seen(made.story())) == ""
