"""Several memory nodes are a hint, never a verdict, and only where the host reads weights."""

from dataclasses import replace

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Role
from app.core.machine import Machine
from app.core.rule import Certainty
from app.rules.numa import check, silent
from tests.rules import made

HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 20000, 101)


def load(nodes: int) -> Evidence:
    """Make evidence of a load on the host."""
    machine = Machine(facts=(facts.known("cpu.numa_nodes", nodes, source="test"),))
    return replace(made.seen(made.story(buffers=(HOST,))), machine=machine)


def test_offers_a_measurement_when_there_are_two_nodes() -> None:
    finding = check(load(2))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN
    assert finding.fix.command.endswith("--numa distribute")


def test_is_silent_when_there_is_one_node() -> None:
    assert check(load(1)) is None
    assert silent(load(1)) == "the memory is one node"
