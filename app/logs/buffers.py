"""Tells from a buffer's name whether its bytes are on a device or in system memory."""

import re
from collections.abc import Mapping

from app.core.log import BufferKind

# ggml buffer types that are system memory, whatever their name suggests (ggml-cpu, build 11434)
_HOST = re.compile(r"(?:CPU(?:_\w+)?|cpu|AMX|BLAS|Host|\w+_Host)\Z")
_DEVICE = re.compile(
    r"(?P<device>(?:CUDA|ROCm|HIP|MUSA|Vulkan|MTL|Metal|SYCL|CANN|(?:GPU)?OpenCL|HTP|Kompute|WebGPU"
    r"|RPC|VRAM|GPU)\d*)(?:_Mapped|_Private|_Split|\[(?P<endpoint>[^\]]+)\])?\Z"
)


def classify(name: str, devices: Mapping[str, str]) -> tuple[BufferKind, str | None]:
    """Return the kind of a buffer and the device it is on.

    devices maps the names that this log lists to their descriptions. A name that is neither
    known nor listed stays unknown.
    """
    if is_host(name):
        return BufferKind.HOST, None
    if name in devices:
        return BufferKind.DEVICE, name
    found = _DEVICE.match(name)
    if found:
        return BufferKind.DEVICE, _device(found, devices)
    # llama.cpp of 2024 named Vulkan buffers after the card (tests/data/logs/old-b3889-*)
    for device, description in devices.items():
        if name and name in (description, description.rpartition(" (")[0]):
            return BufferKind.DEVICE, device
    return BufferKind.UNKNOWN, None


def is_host(name: str) -> bool:
    """Tell whether a buffer or a listed device of this name is system memory."""
    return _HOST.match(name) is not None


def _device(found: re.Match[str], devices: Mapping[str, str]) -> str:
    endpoint = found["endpoint"]
    if endpoint:
        # both of two RPC servers call their buffer RPC0[...]; the device list has the endpoint
        same = [name for name, description in devices.items() if description == endpoint]
        if len(same) == 1:
            return same[0]
    return found["device"]
