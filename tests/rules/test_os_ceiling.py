"""A limit of the system is a fault only where the load runs into it."""

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Ended, Fact
from app.core.machine import Machine, MachineFact
from app.core.model import Model, Part
from app.core.units import GIB
from app.rules.os_ceiling import check, silent
from tests.rules import made

REFUSED = made.seen(
    made.story(errors=(made.event(Fact.ERROR_MEMORY, 30, "out of memory"),), ended=Ended.FAILED)
).log


def size(path: str, gib: float) -> MachineFact:
    """Return a size fact."""
    return facts.known(path, int(gib * GIB), unit="bytes", source="test")


def test_names_the_container_when_memory_was_refused() -> None:
    machine = Machine(facts=(size("memory.total", 64), size("memory.limit", 8)))
    finding = check(Evidence(machine=machine, log=REFUSED))
    assert finding is not None
    assert "8.00 GiB" in finding.cause and "64.00 GiB" in finding.cause
    assert "container" in finding.fix.text


def test_names_the_container_when_the_file_alone_is_larger() -> None:
    machine = Machine(facts=(size("memory.total", 64), size("memory.limit", 8)))
    model = Model("m", "llama", 3, False, {}, (), (Part("m", 9 * GIB, 0, 32),))
    assert check(Evidence(machine=machine, model=model)) is not None


@pytest.mark.parametrize(
    ("more", "command"),
    [
        ((facts.known("os.is_wsl", True, source="test"),), "wsl --shutdown"),
        ((size("gpu.0.gtt_total", 32),), "amd-ttm --set 54"),
        ((size("gpu.0.memory_limit", 40),), "sudo sysctl iogpu.wired_limit_mb=57344"),
    ],
)
def test_leaves_a_reserve_when_it_raises_a_limit(
    more: tuple[MachineFact, ...], command: str
) -> None:
    machine = Machine(facts=(size("memory.total", 64), *more))
    finding = check(Evidence(machine=machine, log=REFUSED))
    assert finding is not None
    assert finding.fix.command == command


def test_is_silent_when_the_load_fits_below_the_limit() -> None:
    machine = Machine(facts=(size("memory.total", 64), size("memory.limit", 8),
                             size("gpu.0.gtt_total", 32)))  # fmt: skip
    evidence = Evidence(machine=machine)
    assert check(evidence) is None
    assert silent(evidence)


def test_is_silent_when_the_graphics_limit_was_already_raised() -> None:
    machine = Machine(facts=(size("memory.total", 64), size("gpu.0.gtt_total", 56)))
    assert check(Evidence(machine=machine, log=REFUSED)) is None
