"""Memory that Windows moves is told by its counter, or by a card that computes without reading."""

import pytest

from app.core import facts
from app.core.evidence import Evidence, GpuWatch
from app.core.machine import Machine
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.core.units import MIB
from app.rules.windows_shared_memory import check, needs, silent

WINDOWS = Machine(facts=(facts.known("os.name", "Windows 11", source="test"),))
GROWN = GpuWatch(10, "counters", use_mean=0.9, shared_growth_bytes=2048 * MIB)
WAITING = GpuWatch(10, "nvml", use_mean=1.0, memory_use_mean=0.02)


@pytest.mark.parametrize(
    ("watch", "certainty"), [(GROWN, Certainty.PROVEN), (WAITING, Certainty.LIKELY)]
)
def test_shortens_the_context_when_the_card_spills(watch: GpuWatch, certainty: Certainty) -> None:
    finding = check(Evidence(machine=WINDOWS, gpu_watch=watch, request=LoadRequest(ctx=32768)))
    assert finding is not None
    assert finding.certainty is certainty
    assert "-c 16384" in finding.fix.command


def test_is_silent_when_only_pinned_buffers_grow() -> None:
    evidence = Evidence(machine=WINDOWS, gpu_watch=GpuWatch(10, shared_growth_bytes=300 * MIB))
    assert check(evidence) is None
    assert silent(evidence)


def test_is_silent_on_linux_and_on_integrated_gpus() -> None:
    linux = Machine(facts=(facts.known("os.name", "Ubuntu", source="test"),))
    assert check(Evidence(machine=linux, gpu_watch=GROWN)) is None
    shared = Machine(facts=(*WINDOWS.facts, facts.known("gpu.0.is_unified", True, source="test")))
    assert check(Evidence(machine=shared, gpu_watch=GROWN)) is None


def test_asks_for_a_watch_on_windows() -> None:
    assert "not watched" in needs(Evidence(machine=WINDOWS))
