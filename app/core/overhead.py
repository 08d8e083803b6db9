"""What a driver keeps for itself in each process on a card: memory that no buffer line names.

From `unaccounted` in public logs of idle cards (placement.md 10.4). It is no part of llama.cpp's
own --fit, whose target of 1024 MiB covers it.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from app.core.machine import Device, DeviceKind
from app.core.units import MIB

_BLACKWELL = ("rtx 50", "blackwell", "b100", "b200", "b300")
_PROCESS_IS_THERE = "--list-devices"  # free was read in a process that holds most of it already


@dataclass(frozen=True, slots=True)
class Overhead:
    """Bytes to keep for the driver of one device, with the range that was seen."""

    n_bytes: int
    low: int
    high: int
    source: str


def overhead_of(device: Device, *, platform: str = sys.platform) -> Overhead | None:
    """Return what to keep; None where nothing is: no card of its own, or nothing is known."""
    if device.is_software or device.is_integrated:
        return None
    seen = _seen(device, is_windows=platform == "win32")
    if seen is None:
        return None
    mib, low, high, where = seen
    if _PROCESS_IS_THERE in device.source:
        mib, low, high = 200, 150, 200
        where += "; most of it is gone already from the free memory that a program reports"
    source = f"unaccounted memory in public logs: {where}"
    return Overhead(mib * MIB, low * MIB, high * MIB, source)


def margin_of(device: Device, target_bytes: int) -> int:
    """Return what must stay free on a device: the target, or the driver's memory if larger."""
    found = overhead_of(device)
    return max(target_bytes, found.n_bytes) if found is not None else target_bytes


def sentence(devices: Iterable[Device]) -> str:
    """Say what is kept for the drivers of these devices, "" when nothing is."""
    kept: dict[Overhead, list[str]] = {}
    for device in devices:
        found = overhead_of(device)
        if found is not None:
            kept.setdefault(found, []).append(device.id)
    return " ".join(
        f"{one.n_bytes // MIB} MiB{' each' if len(names) > 1 else ''} are kept for the driver's "
        f"own use on {' and '.join(names)} ({one.source})."
        for one, names in kept.items()
    )


def _seen(device: Device, *, is_windows: bool) -> tuple[int, int, int, str] | None:
    """Return MiB to keep, the smallest and largest seen, and on what."""
    if device.kind is DeviceKind.CUDA:
        if any(word in device.description.lower() for word in _BLACKWELL):
            return 750, 708, 753, "RTX PRO 6000 Blackwell"
        return 500, 298, 456, "A40 and RTX 4090"
    if device.kind is DeviceKind.ROCM:
        return 350, 242, 353, "eight idle cards with ROCm on Linux"
    if device.kind is DeviceKind.VULKAN:
        if is_windows:
            return 1000, 828, 1241, "four cards with Vulkan on Windows, the desktop included"
        return 750, 742, 750, "RX 6700 XT with Vulkan on Linux"
    return None
