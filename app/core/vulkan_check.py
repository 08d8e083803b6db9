"""What vulkaninfo says of a device beside what llama.cpp lists: where the two do not agree."""

from app.core import units
from app.core.machine import Device, DeviceKind, Machine

_SAME = 0.05


def notes(machine: Machine, device: Device) -> list[str]:
    """Return what a device of llama.cpp's Vulkan backend does not have in common with Vulkan."""
    if device.kind is not DeviceKind.VULKAN:
        return []
    index = index_of(machine, device.description)
    if index is None:
        return []
    total, theirs = machine.number(f"vulkan.{index}.memory_total"), device.total_bytes
    if total is None or theirs is None or abs(total - theirs) <= _SAME * max(total, theirs):
        return []
    return [
        f"vulkaninfo says {units.size(total)}, llama.cpp {units.size(theirs)} ({device.id}): they "
        "may use two drivers. llama.cpp plans with its own figure."
    ]


def has_budget(machine: Machine, device: Device) -> bool | None:
    """Tell whether the driver lets programs see what others use; None = nobody asked."""
    index = index_of(machine, device.description)
    if index is None:
        return None
    return machine.number(f"vulkan.{index}.memory_free") is not None


def unused_note(machine: Machine, vendor: str, devices: tuple[Device, ...]) -> list[str]:
    """Say for a card that llama.cpp does not list whether Vulkan could use it."""
    if devices or not machine.number("vulkan.devices") or not vendor:
        return []
    names = [machine.text(f"vulkan.{index}.name") or "" for index in _indices(machine)]
    real = [
        name
        for index, name in enumerate(names)
        if machine.text(f"vulkan.{index}.kind") != "software"
    ]
    if any(vendor.lower() in name.lower() for name in real):
        return ["vulkaninfo lists it: a build of llama.cpp for Vulkan could use it."]
    return [f"vulkaninfo lists no device of {vendor}: its Vulkan driver is not installed."]


def index_of(machine: Machine, name: str) -> int | None:
    """Return the number under which vulkaninfo lists a device of this name."""
    same = [i for i in _indices(machine) if machine.text(f"vulkan.{i}.name") == name]
    return same[0] if len(same) == 1 else None


def _indices(machine: Machine) -> range:
    return range(machine.number("vulkan.devices") or 0)
