"""Other programs at work are a finding above a tenth of the processor."""

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, MemoryWatch
from app.rules.machine_busy import check, is_busy, needs, silent


def watched(cores_used: float | None) -> Evidence:
    """Return evidence of a watch on 8 cores."""
    return Evidence(watch=MemoryWatch(5.0, 10, other_cpu_max=cores_used, cores=8, source="psutil"))


def test_cites_the_share_when_others_compute() -> None:
    finding = check(watched(2.0))
    assert finding is not None
    assert finding.cites[0].text == "other programs used up to 25 % of the processor"
    assert finding.cites[0].source == "psutil"


def test_speaks_of_rates_only_where_some_were_measured() -> None:
    finding = check(watched(2.0))
    assert finding is not None and "rates" not in finding.cause
    busy = BenchRun(Test.PROMPT, 512, (1.0, 2.0), "llama-bench", busy="others used 25 %")
    finding = check(Evidence(runs=(busy,)))
    assert finding is not None and "the rates may be lower" in finding.cause


def test_is_silent_when_others_use_little() -> None:
    assert check(watched(0.4)) is None
    assert not is_busy(watched(0.4))
    assert silent(watched(0.4)) == "other programs used at most 5 % of the processor"


def test_is_silent_when_a_run_was_quiet() -> None:
    evidence = Evidence(runs=(BenchRun(Test.PROMPT, 512, (1.0, 2.0), "llama-bench"),))
    assert check(evidence) is None
    assert needs(evidence) == ""
    assert "quiet" in silent(evidence)


def test_is_not_checked_when_nothing_was_measured() -> None:
    assert needs(watched(None)) != ""
    assert needs(Evidence()) != ""
