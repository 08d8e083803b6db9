"""The devices a load may use, as the user chose: all, one, a card thought of, or none."""

from app.core import units
from app.core.machine import Device, DeviceKind

KINDS = (
    ("CUDA (NVIDIA)", DeviceKind.CUDA),
    ("ROCm (AMD)", DeviceKind.ROCM),
    ("Vulkan", DeviceKind.VULKAN),
    ("Metal (Apple)", DeviceKind.METAL),
    ("SYCL (Intel)", DeviceKind.SYCL),
)
_IDS = {
    DeviceKind.CUDA: "CUDA0",
    DeviceKind.ROCM: "ROCm0",
    DeviceKind.VULKAN: "Vulkan0",
    DeviceKind.METAL: "MTL0",
    DeviceKind.SYCL: "SYCL0",
}
TYPED = "typed in"


def card(gib: float, kind: DeviceKind) -> Device:
    """Return a card that is not here, with so much free memory in GiB."""
    n_bytes = int(gib * units.GIB)
    return Device(_IDS[kind], kind, "a card I think of", n_bytes, n_bytes, TYPED)


def title(device: Device) -> str:
    """Return a device in one line, with what is free."""
    software = ", software" if device.is_software else ""
    return f"{device.id}{software} · {units.gib(device.free_bytes)} free"
