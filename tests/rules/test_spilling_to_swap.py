"""Swap is a fault by its traffic while tokens are produced, not by its level."""

from app.core import facts
from app.core.evidence import Evidence, MemoryWatch
from app.core.log import Role
from app.core.machine import Machine
from app.core.model import Model, Part
from app.core.units import GIB, MIB
from app.rules.spilling_to_swap import check, needs, silent
from tests.rules import made

SPILL = MemoryWatch(
    5.0, 10, swap_in_max=40.0 * MIB, swap_out_max=60.0 * MIB,
    swap_used_before_bytes=1 * GIB, swap_used_after_bytes=3 * GIB, source="/proc/vmstat",
)  # fmt: skip
MACHINE = Machine(facts=(facts.known("memory.total", 16 * GIB, unit="bytes", source="meminfo"),))


def test_cites_the_traffic_when_pages_move_while_it_writes() -> None:
    finding = check(Evidence(watch=SPILL))
    assert finding is not None
    texts = [cite.text for cite in finding.cites]
    assert texts == [
        "swap out: at most 60.0 MiB per second",
        "swap in: at most 40.0 MiB per second",
        "swap used: 1.00 GiB before, 3.00 GiB after",
    ]
    assert "Close other programs" in finding.fix.text


def test_offers_a_smaller_file_when_the_model_is_larger_than_memory() -> None:
    model = Model("m.gguf", "llama", 3, False, {}, (), (Part("m.gguf", 20 * GIB, 0, 32),))
    finding = check(Evidence(watch=SPILL, machine=MACHINE, model=model))
    assert finding is not None
    assert "smaller file" in finding.fix.text and "20.00 GiB" in finding.fix.text


def test_offers_half_the_context_when_the_cache_is_large() -> None:
    told = made.story(buffers=(made.buffer("CPU", Role.KV, 8 * 1024, 90),), n_ctx=131072)
    finding = check(Evidence(watch=SPILL, machine=MACHINE, log=made.seen(told).log))
    assert finding is not None
    assert "-c 65536" in finding.fix.command


def test_leaves_file_pages_to_their_own_rule() -> None:
    watch = MemoryWatch(5.0, 10, swap_in_max=0.0, swap_out_max=0.0, refault_max=90.0 * MIB)
    assert check(Evidence(watch=watch)) is None


def test_is_silent_when_old_pages_lie_in_swap_without_traffic() -> None:
    watch = MemoryWatch(
        5.0, 10, swap_in_max=8192.0, swap_out_max=0.0, refault_max=0.0,
        swap_used_before_bytes=3 * GIB, swap_used_after_bytes=3 * GIB,
    )  # fmt: skip
    evidence = Evidence(watch=watch)
    assert check(evidence) is None
    assert needs(evidence) == ""
    assert silent(evidence) == "at most 8.0 KiB per second went to or from the swap while it wrote"


def test_is_not_checked_when_nothing_was_sampled() -> None:
    assert needs(Evidence()) == "memory was not watched while the model wrote"
    assert "did not tell" in needs(Evidence(watch=MemoryWatch(5.0, 10)))
