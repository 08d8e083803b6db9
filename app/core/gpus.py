"""The GPUs of a machine: what the driver says of each, beside what llama.cpp lists."""

import re
from dataclasses import dataclass
from enum import Enum

from app.core import units, vulkan_check
from app.core.machine import Device, DeviceKind, Machine, MachineFact

_FACT = re.compile(r"gpu\.(\d+)\.")
_BRACKETS = re.compile(r"\([^)]*\)")  # (R), (TM), (RADV NAVI31)
_NOISE = re.compile(r"\b(?:nvidia|amd|intel|apple|geforce|radeon|gpu)\b|[^a-z0-9]+")
_NUMBERS_ONLY = re.compile(r"AMD GPU\b[ 0-9A-Fa-fx:]*")  # what sysfs knows of an AMD card
_VENDORS = (
    ("NVIDIA", ("nvidia", "geforce", "quadro", "tesla", "rtx", "gtx")),
    ("AMD", ("amd", "radeon", "radv", "instinct")),
    ("Apple", ("apple",)),
    ("Intel", ("intel",)),
)
_KIND_VENDORS = {
    DeviceKind.CUDA: "NVIDIA",
    DeviceKind.ROCM: "AMD",
    DeviceKind.METAL: "Apple",
    DeviceKind.SYCL: "Intel",
}
# one card through two programs: its total differs by what the driver keeps (hardware.md section 7)
_SAME_MEMORY = 0.05
_APART = 0.10


class GpuKind(Enum):
    """What stands behind a device."""

    CARD = "card"  # with memory of its own, or not known to have none
    SHARED = "shared"  # it uses the computer's memory
    SOFTWARE = "software"  # the CPU under another name
    REMOTE = "remote"  # another computer, over the network


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU; index None = only llama.cpp lists it, no devices = only the driver does."""

    name: str
    kind: GpuKind
    index: int | None
    devices: tuple[Device, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_real(self) -> bool:
        """Tell whether it is a GPU of this computer."""
        return self.kind in (GpuKind.CARD, GpuKind.SHARED)

    def path(self, name: str) -> str:
        """Return the path of one of the driver's facts."""
        return f"gpu.{self.index}.{name}"


def gpus(machine: Machine) -> tuple[Gpu, ...]:
    """Return the driver's GPUs in order, then those that only llama.cpp lists."""
    indices = sorted({int(m[1]) for fact in machine.facts if (m := _FACT.match(fact.path))})
    given: dict[int, list[Device]] = {index: [] for index in indices}
    alone: list[list[Device]] = []
    for device in machine.devices:
        index = None if _is_foreign(device) else _match(machine, given, device)
        if index is not None:
            given[index].append(device)
            continue
        twin = next((group for group in alone if _is_twin(group[0], device)), None)
        if twin is None:
            alone.append([device])
        elif all(one.kind is not device.kind for one in twin):
            twin.append(device)
        else:
            alone.append([device])
    return (
        *(_driver_gpu(machine, index, tuple(devices)) for index, devices in given.items()),
        *(_listed_gpu(machine, tuple(devices)) for devices in alone),
    )


def driver_fact(machine: Machine, gpu: Gpu, name: str) -> MachineFact | None:
    """Return what the driver says of a GPU, None when no probe asked."""
    return None if gpu.index is None else machine.fact(gpu.path(name))


def _is_foreign(device: Device) -> bool:
    return device.is_software or device.kind is DeviceKind.RPC


def _match(machine: Machine, given: dict[int, list[Device]], device: Device) -> int | None:
    """Return the driver's card that a device is; each card is one device per backend."""
    open_cards = [
        index
        for index, devices in given.items()
        if all(one.kind is not device.kind for one in devices)
    ]
    same_name = [i for i in open_cards if _is_same_name(_name(machine, i), device.description)]
    if same_name:
        # cards of one name can differ in memory: 3060 with 8 or 12 GB
        close = [i for i in same_name if _is_close(_total(machine, i), device.total_bytes)]
        return (close or same_name)[0]
    # sysfs knows an AMD card by numbers only, so its name cannot be compared
    vendor = _vendor(device)
    of_vendor = [i for i in open_cards if machine.text(f"gpu.{i}.vendor") == vendor]
    close = [i for i in of_vendor if _is_close(_total(machine, i), device.total_bytes)]
    if close:
        return close[0]
    is_nameless = len(of_vendor) == 1 and _NUMBERS_ONLY.fullmatch(_name(machine, of_vendor[0]))
    return of_vendor[0] if is_nameless else None


def _vendor(device: Device) -> str:
    known = _KIND_VENDORS.get(device.kind)
    if known:
        return known
    words = device.description.lower()
    return next((name for name, marks in _VENDORS if any(m in words for m in marks)), "")


def _core(name: str) -> str:
    return " ".join(_NOISE.sub(" ", _BRACKETS.sub(" ", name.lower())).split())


def _is_same_name(first: str, second: str) -> bool:
    a, b = _core(first), _core(second)
    # "RTX 4060" is a part of "RTX 4060 Ti" and of "RTX 4060 Laptop GPU", and neither is the other
    return bool(a) and a == b


def _is_close(first: int | None, second: int | None) -> bool:
    if first is None or second is None:
        return False
    return abs(first - second) <= _SAME_MEMORY * max(first, second)


def _is_twin(first: Device, second: Device) -> bool:
    """Tell whether two backends list one card."""
    if _is_foreign(first) or _is_foreign(second) or first.kind is second.kind:
        return False
    return _is_same_name(first.description, second.description) and _is_close(
        first.total_bytes, second.total_bytes
    )


def _name(machine: Machine, index: int) -> str:
    return machine.text(f"gpu.{index}.name") or ""


def _total(machine: Machine, index: int) -> int | None:
    return machine.number(f"gpu.{index}.memory_total")


def _driver_gpu(machine: Machine, index: int, devices: tuple[Device, ...]) -> Gpu:
    is_shared = machine.flag(f"gpu.{index}.is_unified") is True or any(
        device.is_integrated for device in devices
    )
    vram, gtt = _total(machine, index), machine.number(f"gpu.{index}.gtt_total")
    # an integrated AMD GPU keeps a small part of memory for itself and borrows the rest (GTT)
    if vram is not None and gtt is not None and gtt > 4 * vram:
        is_shared = True
    name = _name(machine, index) or f"GPU {index}"
    if devices and _NUMBERS_ONLY.fullmatch(name):
        name = devices[0].description  # the runtime's name says more than PCI numbers
    kind = GpuKind.SHARED if is_shared else GpuKind.CARD
    lent = _gtt_note(machine, gtt)
    notes = [*lent, *_total_note(machine, index, devices, kind)]
    vendor = machine.text(f"gpu.{index}.vendor") or ""
    notes += vulkan_check.unused_note(machine, vendor, devices)
    for device in devices:
        if not lent:  # what the driver lends, the device lists: one note is enough
            notes += _excess_note(machine, device, kind)
        notes += _device_notes(machine, device, kind)
    return Gpu(name, kind, index, devices, tuple(dict.fromkeys(notes)))


def _listed_gpu(machine: Machine, devices: tuple[Device, ...]) -> Gpu:
    first = devices[0]
    kind = GpuKind.CARD
    if first.is_software:
        kind = GpuKind.SOFTWARE
    elif first.kind is DeviceKind.RPC:
        kind = GpuKind.REMOTE
    elif any(device.is_integrated for device in devices):
        kind = GpuKind.SHARED
    notes = []
    for device in devices:
        notes += [*_excess_note(machine, device, kind), *_device_notes(machine, device, kind)]
    return Gpu(first.description, kind, None, devices, tuple(dict.fromkeys(notes)))


def _gtt_note(machine: Machine, gtt: int | None) -> list[str]:
    total = machine.number("memory.total")
    if gtt is None or total is None or gtt <= total:
        return []
    return [
        f"The driver lets it borrow {units.size(gtt)} of memory (GTT), more than the "
        f"{units.size(total)} that this computer has: do not count on all of it."
    ]


def _total_note(
    machine: Machine, index: int, devices: tuple[Device, ...], kind: GpuKind
) -> list[str]:
    driver = _total(machine, index)
    if driver is None or kind is GpuKind.SHARED:
        return []
    for device in devices:
        total = device.total_bytes
        if total is not None and abs(total - driver) > _APART * driver:
            return [
                f"The driver says {units.size(driver)}, llama.cpp {units.size(total)} "
                f"({device.id}). llama.cpp plans with its own figure."
            ]
    return []


def _excess_note(machine: Machine, device: Device, kind: GpuKind) -> list[str]:
    total, memory = device.total_bytes, machine.number("memory.total")
    if kind is not GpuKind.SHARED or total is None or memory is None or total <= memory:
        return []
    return [
        f"{device.id} lists {units.size(total)}, more than the {units.size(memory)} "
        "that this computer has."
    ]


def _device_notes(machine: Machine, device: Device, kind: GpuKind) -> list[str]:
    notes = vulkan_check.notes(machine, device)
    total, free = device.total_bytes, device.free_bytes
    if total is not None and free is not None and free > total:
        notes.append(
            f"{device.id} lists {units.size(free)} free of {units.size(total)}: "
            "the free figure cannot be right."
        )
    # without VK_EXT_memory_budget ggml-vulkan reports the heap's size as free
    is_full = total is not None and free == total
    has_budget = vulkan_check.has_budget(machine, device)
    if (
        kind is GpuKind.CARD
        and device.kind is DeviceKind.VULKAN
        and is_full
        and has_budget is not True
    ):
        does = "does" if has_budget is False else "may"
        notes.append(
            f"{device.id} lists all of its memory as free: this driver {does} not tell llama.cpp "
            "what other programs use."
        )
    return notes
