"""An integrated GPU in use beside an idle card is told by Ollama's line or by the buffers."""

from dataclasses import replace

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary, Role
from app.core.machine import Device, DeviceKind, Machine
from app.rules.integrated_gpu_chosen import check, silent
from tests.rules import made

WEAK = Device("Vulkan0", DeviceKind.VULKAN, "Intel UHD", 16 << 30, 15 << 30, "list",
              is_integrated=True)  # fmt: skip
CARD = Device("Vulkan1", DeviceKind.VULKAN, "RTX 4070", 12 << 30, 11 << 30, "list",
              is_integrated=False)  # fmt: skip


def dropped(name: str) -> Evidence:
    """Make evidence of a GPU that Ollama leaves out."""
    line = made.event(Fact.GPU_DROPPED, 1, "dropping integrated GPU", description=name)
    return Evidence(log=LogSummary("server.log", 3, events=(line,)))


def on(device: str) -> Evidence:
    """Make evidence of a model on one of two devices."""
    told = made.story(buffers=(made.buffer(device, Role.WEIGHTS, 4455, 100),))
    return replace(made.seen(told), machine=Machine(devices=(WEAK, CARD)))


def test_switches_vulkan_off_when_a_card_was_dropped() -> None:
    finding = check(dropped("NVIDIA GeForce RTX 5070 Laptop GPU"))
    assert finding is not None
    assert finding.fix.command == "OLLAMA_VULKAN=0"


def test_is_silent_when_an_integrated_gpu_was_dropped() -> None:
    evidence = dropped("AMD Radeon 780M Graphics")
    assert check(evidence) is None
    assert "integrated one" in silent(evidence)


def test_names_the_card_when_the_buffers_are_beside_it() -> None:
    finding = check(on("Vulkan0"))
    assert finding is not None
    assert "-dev Vulkan1" in finding.fix.command
    assert check(on("Vulkan1")) is None
