"""A prompt that is read again is told by the server's own line, with the price of the way out."""

from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent, LogSummary
from app.core.request import LoadRequest
from app.rules.prompt_read_again import check, silent
from tests.rules import made

AGAIN = made.event(Fact.PROMPT_REPROCESSED, 50, "forcing full prompt re-processing")


def size(cells: int, mib: float, line: int) -> LogEvent:
    """Make a line of a cache's size."""
    return made.event(Fact.KV_SIZE, line, "size", cells=cells, mib=mib, layers=10)


def test_offers_the_full_cache_with_its_price() -> None:
    small, large = size(1024, 15.0, 10), size(8192, 24.0, 11)
    finding = check(made.seen(made.story(small, large, AGAIN)))
    assert finding is not None
    assert "105 MiB more" in finding.fix.text  # 15 MiB for 1024 cells, so 120 for 8192
    assert "--swa-full" in finding.fix.command
    assert finding.cites[0].line == 50


def test_offers_checkpoints_when_the_cache_is_full_size_already() -> None:
    finding = check(made.seen(made.story(AGAIN), request=LoadRequest(swa_full=True)))
    assert finding is not None
    assert finding.fix.command == "--ctx-checkpoints 64"


def test_is_silent_when_no_line_says_it() -> None:
    evidence = made.seen(made.story())
    assert check(evidence) is None
    assert silent(evidence)


def test_asks_for_checkpoints_when_the_model_keeps_a_state() -> None:
    line = made.event(
        Fact.PROMPT_REPROCESSED, 7, "forcing full prompt re-processing (likely due to SWA or hybrid"
    )
    finding = check(Evidence(log=LogSummary("server.log", 8, events=(line,))))
    assert finding is not None
    assert "swa-full" not in f"{finding.fix.text}{finding.fix.command}"
    assert "--ctx-checkpoints" in finding.fix.command
