"""Pages that are read again count only without swap, with a mapped file, and for a large one."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence, MemoryWatch
from app.core.machine import Machine
from app.core.model import Model, Part
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.core.units import GIB, MIB
from app.rules.mapped_pages_evicted import check, needs, silent

WATCH = MemoryWatch(
    5.0, 10, swap_in_max=0.0, swap_out_max=0.0, refault_max=90.0 * MIB, source="/proc/vmstat"
)
MACHINE = Machine(facts=(facts.known("memory.total", 16 * GIB, unit="bytes", source="meminfo"),))


def model(gib: int) -> Model:
    """Return a model of so many GiB."""
    return Model("m.gguf", "llama", 3, False, {}, (), (Part("m.gguf", gib * GIB, 0, 32),))


def test_is_likely_when_file_pages_are_read_again() -> None:
    finding = check(Evidence(watch=WATCH, machine=MACHINE, model=model(12)))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert finding.cites[0].text == "pages read again from files: at most 90.0 MiB per second"
    assert "12.00 GiB" in finding.cause
    assert "Close other programs" in finding.fix.text
    assert "lock" not in finding.fix.text


def test_asks_for_a_smaller_file_when_it_is_as_large_as_memory() -> None:
    finding = check(Evidence(watch=WATCH, machine=MACHINE, model=model(15)))
    assert finding is not None and "smaller file" in finding.fix.text


def test_is_only_possible_when_the_file_is_small() -> None:
    finding = check(Evidence(watch=WATCH, machine=MACHINE, model=model(2)))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN


@pytest.mark.parametrize(
    ("evidence", "because"),
    [
        (Evidence(watch=replace(WATCH, swap_in_max=40.0 * MIB)), "pages moved to the swap"),
        (Evidence(watch=WATCH, request=LoadRequest(load_mode="none")), "copied into memory"),
        (Evidence(watch=replace(WATCH, refault_max=1.0 * MIB)), "at most 1.0 MiB per second"),
    ],
    ids=["swap", "not mapped", "little"],
)
def test_is_silent_when_another_thing_explains_it(evidence: Evidence, because: str) -> None:
    assert check(evidence) is None
    assert because in silent(evidence)


def test_is_not_checked_when_the_system_does_not_count() -> None:
    assert needs(Evidence(watch=MemoryWatch(5.0, 10))) == "this system does not count them"
