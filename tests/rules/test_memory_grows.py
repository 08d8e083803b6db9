"""Earlier texts in memory are named when they are large and the memory went there."""

from dataclasses import replace

from app.core.evidence import Evidence, MemoryWatch
from app.core.log import Fact
from app.core.rule import Certainty
from app.core.units import MIB
from app.rules.memory_grows import check, silent
from tests.rules import made


def kept(mib: float, grown_mib: int | None) -> Evidence:
    """Make evidence of a server that keeps earlier texts."""
    line = made.event(Fact.PROMPT_CACHE, 80, "- cache state", prompts=9, mib=mib, limit_mib=8192.0)
    growth = None if grown_mib is None else grown_mib * MIB
    watch = MemoryWatch(3600.0, 100, own_growth_bytes=growth)
    return replace(made.seen(made.story(line)), watch=watch)


def test_limits_what_is_kept() -> None:
    finding = check(kept(6000.0, 6100))
    assert finding is not None
    assert "6,000 MiB, up to 8,192 MiB" in finding.cause
    assert finding.fix.command == "-cram 1024"


def test_is_silent_when_small_or_the_growth_is_elsewhere() -> None:
    for evidence in (kept(300.0, 6100), kept(6000.0, 100), kept(6000.0, None)):
        assert check(evidence) is None
        assert silent(evidence)


def test_is_likely_by_growth_alone_where_the_program_keeps_texts() -> None:
    watch = MemoryWatch(90_000.0, 2, own_growth_bytes=8_300_000_000)
    finding = check(Evidence(watch=watch, runtime="ollama"))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert check(Evidence(watch=watch, runtime="vllm")) is None
    small = MemoryWatch(90_000.0, 2, own_growth_bytes=200_000_000)
    assert check(Evidence(watch=small, runtime="ollama")) is None
