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
_NAMES = {
    DeviceKind.CUDA: "CUDA",
    DeviceKind.ROCM: "ROCm",
    DeviceKind.VULKAN: "Vulkan",
    DeviceKind.METAL: "MTL",
    DeviceKind.SYCL: "SYCL",
}
TYPED = "typed in"
_MOST = 1e9


def cards(gib: float, kind: DeviceKind, n: int = 1) -> tuple[Device, ...]:
    """Return equal cards that are not here, each with so much free memory in GiB."""
    n_bytes = int(gib * units.GIB)
    return tuple(
        Device(
            f"{_NAMES[kind]}{i}", kind, "a card I think of", n_bytes, n_bytes, TYPED,
            is_integrated=True if kind is DeviceKind.METAL else None,
        )
        for i in range(n)
    )  # fmt: skip


def shares(text: str, n_devices: int) -> tuple[float, ...]:
    """Return the shares that are typed in, such as "3,1"; () when they are none for the devices."""
    words = text.replace("/", ",").split(",")
    try:
        found = tuple(float(word) for word in words)
    except ValueError:
        return ()
    is_usable = len(found) <= n_devices and all(0 <= share < _MOST for share in found)
    return found if is_usable and any(found) else ()


def title(device: Device) -> str:
    """Return a device in one line, with what is free."""
    software = ", software" if device.is_software else ""
    return f"{device.id}{software} · {units.gib(device.free_bytes)} free"
