"""vulkaninfo beside llama.cpp's list: other drivers, no budget, cards that could be used."""

from app.core import facts
from app.core.gpus import gpus
from app.core.machine import Device, DeviceKind, Machine, MachineFact
from app.core.reading import State
from app.core.units import GIB

NAME = "AMD Radeon RX 7900 XTX (RADV NAVI31)"


def _device(total: int, free: int) -> Device:
    return Device("Vulkan0", DeviceKind.VULKAN, NAME, total, free, "llama-server")


def _machine(device: Device | None, *more: MachineFact) -> Machine:
    told = (
        facts.known("gpu.0.vendor", "AMD", source="t"),
        facts.known("gpu.0.name", "AMD Radeon RX 7900 XTX", source="t"),
        facts.known("vulkan.devices", 1, source="t"),
        facts.known("vulkan.0.name", NAME, source="t"),
        facts.known("vulkan.0.kind", "card", source="t"),
        facts.known("vulkan.0.memory_total", 24 * GIB, source="t", unit="bytes"),
    )
    return Machine(facts=(*told, *more), devices=(device,) if device else ())


def _notes(machine: Machine) -> str:
    return " ".join(note for gpu in gpus(machine) for note in gpu.notes)


def test_two_drivers_that_do_not_agree_are_shown() -> None:
    assert "two drivers" in _notes(_machine(_device(16 * GIB, 8 * GIB)))
    assert "two drivers" not in _notes(_machine(_device(24 * GIB, 8 * GIB)))


def test_all_free_is_a_driver_without_budget_or_an_empty_card() -> None:
    device = _device(24 * GIB, 24 * GIB)
    reason = facts.missing("vulkan.0.memory_free", State.UNSUPPORTED, source="t", reason="no")
    assert "does not tell" in _notes(_machine(device, reason))
    told = facts.known("vulkan.0.memory_free", 24 * GIB, source="t", unit="bytes")
    assert "all of its memory as free" not in _notes(_machine(device, told))
    silent = Machine(facts=(), devices=(device,))
    assert "may not tell" in _notes(silent)


def test_a_card_that_no_program_uses_could_be_used_or_lacks_its_driver() -> None:
    assert "could use it" in _notes(_machine(None))
    software = Machine(
        facts=(
            facts.known("gpu.0.vendor", "Intel", source="t"),
            facts.known("gpu.0.name", "Intel Arc", source="t"),
            facts.known("vulkan.devices", 1, source="t"),
            facts.known("vulkan.0.name", "llvmpipe (an Intel word)", source="t"),
            facts.known("vulkan.0.kind", "software", source="t"),
        )
    )
    assert "driver is not installed" in _notes(software)
