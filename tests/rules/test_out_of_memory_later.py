"""Memory that runs out at a request is told from a load that failed."""

from app.core.log import Ended, Fact
from app.rules import judge
from app.rules.out_of_memory_later import check, silent
from tests.rules import made

READY = made.event(Fact.LOADED, 50, "server is listening")
REFUSED = made.event(Fact.ERROR_MEMORY, 70, "cudaMalloc failed", n_bytes=2048 << 20)


def test_leaves_a_larger_margin() -> None:
    evidence = made.seen(made.story(READY, errors=(REFUSED,), ended=Ended.CRASHED))
    finding = check(evidence)
    assert finding is not None
    assert "2.00 GiB" in finding.cause
    assert "-fitt 2048" in finding.fix.command
    verdict = judge.diagnose(evidence).verdict
    assert verdict is not None and verdict.rule_id == "out-of-memory-later"


def test_is_silent_when_the_load_failed_or_all_went_well() -> None:
    failed = made.seen(made.story(errors=(REFUSED,), ended=Ended.FAILED))
    assert check(failed) is None
    fine = made.seen(made.story(READY))
    assert check(fine) is None
    assert silent(fine)
