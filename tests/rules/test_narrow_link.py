"""A narrow link is a fault only where data crosses it for each prompt."""

from dataclasses import replace

from app.core import facts
from app.core.evidence import Evidence, GpuWatch
from app.core.log import Role
from app.core.machine import Machine
from app.rules.narrow_link import check, silent
from tests.rules import made

CARD = made.buffer("CUDA0", Role.WEIGHTS, 4000, 100)
HOST = made.buffer("CPU_Mapped", Role.WEIGHTS, 2000, 101)


def load(n: int, width: int) -> Evidence:
    """Make evidence of a load on a card with a link."""
    machine = Machine(
        facts=(
            facts.known("gpu.0.pcie_width", width, source="nvml"),
            facts.known("gpu.0.pcie_width_max", 16, source="nvml"),
        )
    )
    evidence = made.seen(made.story(made.offloaded(n, 41), buffers=(CARD, HOST)))
    return replace(evidence, machine=machine)


def test_names_the_lanes_when_weights_are_on_the_host() -> None:
    finding = check(load(20, 4))
    assert finding is not None
    assert "4 of 16 lanes" in finding.cause
    assert "-ub 2048" in finding.fix.command


def test_is_silent_when_all_is_on_one_card_or_the_link_is_full() -> None:
    assert check(load(41, 4)) is None
    assert "does not matter for writing" in silent(load(41, 4))
    assert check(load(20, 16)) is None


def test_a_generation_counts_only_while_the_card_works() -> None:
    watch = GpuWatch(20, "NVML", n_busy=15, link_generation=1, link_generation_max=4, name="RTX")
    slow = replace(load(20, 16), gpu_watch=watch)
    finding = check(slow)
    assert finding is not None
    assert "PCIe generation 1 of 4 while it worked" in finding.cause
    assert "15 samples" in finding.cites[0].text
    full = replace(watch, link_generation=4)
    assert check(replace(slow, gpu_watch=full)) is None
    assert "generation 4 was in use" in silent(replace(slow, gpu_watch=full))
    assert check(replace(slow, gpu_watch=replace(watch, n_busy=2))) is None
    assert check(replace(load(41, 16), gpu_watch=watch)) is None
