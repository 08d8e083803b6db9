"""As many threads as processors are a fault only beside other programs at work."""

from dataclasses import replace

from app.core import facts
from app.core.evidence import Evidence, MemoryWatch
from app.core.log import Fact, Role
from app.core.machine import Machine
from app.rules import machine_busy
from app.rules.all_cores_used import check, needs, silent
from tests.rules import made

EIGHT = Machine(facts=(facts.known("cpu.logical", 8, source="psutil"),))
HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 4000, 101)


def load(threads: int, others: float, cores: int = 8) -> Evidence:
    """Make evidence of a load on the processor."""
    info = made.event(Fact.SYSTEM_INFO, 5, "system_info", threads=threads, cores=cores)
    watch = MemoryWatch(5.0, 10, other_cpu_max=others, cores=cores, source="psutil")
    return replace(made.seen(made.story(buffers=(HOST,)), info), watch=watch)


def test_takes_one_thread_less_on_a_busy_machine() -> None:
    finding = check(load(8, 2.4))
    assert finding is not None
    assert "-t 7" in finding.fix.command


def test_is_silent_when_quiet_or_with_fewer_threads() -> None:
    assert check(load(8, 0.2)) is None
    assert check(load(7, 2.4)) is None
    assert silent(load(7, 2.4)) == "the model used 7 of 8 processors"


def test_is_silent_when_others_use_no_clear_share() -> None:
    evidence = load(8, 1.6)  # busy, and still only a fifth of all processors
    assert machine_busy.is_busy(evidence)
    assert check(evidence) is None
    assert silent(evidence) == "other programs used at most 20 % of the processor"


def test_is_silent_when_a_computer_has_few_processors() -> None:
    assert check(load(2, 1.5, cores=2)) is None
    assert silent(load(2, 1.5, cores=2)).startswith("with 2 processors")
    fewest = check(load(4, 1.5, cores=4))
    assert fewest is not None and "Use 3 threads" in fewest.fix.text


def test_is_not_checked_when_the_use_by_others_was_not_sampled() -> None:
    evidence = replace(load(8, 2.4), watch=None, machine=EIGHT)
    assert check(evidence) is None
    assert "not sampled" in needs(evidence)
