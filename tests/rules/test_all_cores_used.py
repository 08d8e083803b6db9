"""As many threads as processors are a fault only beside other programs at work."""

from dataclasses import replace

from app.core.evidence import Evidence, MemoryWatch
from app.core.log import Fact, Role
from app.rules.all_cores_used import check, silent
from tests.rules import made

HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 4000, 101)


def load(threads: int, others: float) -> Evidence:
    """Make evidence of a load on eight processors."""
    info = made.event(Fact.SYSTEM_INFO, 5, "system_info", threads=threads, cores=8)
    watch = MemoryWatch(5.0, 10, other_cpu_max=others, cores=8, source="psutil")
    return replace(made.seen(made.story(buffers=(HOST,)), info), watch=watch)


def test_takes_one_thread_less_on_a_busy_machine() -> None:
    finding = check(load(8, 2.0))
    assert finding is not None
    assert "-t 7" in finding.fix.command


def test_is_silent_when_quiet_or_with_fewer_threads() -> None:
    assert check(load(8, 0.2)) is None
    assert check(load(7, 2.0)) is None
    assert silent(load(7, 2.0))
