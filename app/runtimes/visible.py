"""The environment variables that leave a runtime only some devices, by llama.cpp's names."""

import re
from collections.abc import Mapping

_DEVICE = re.compile(r"([A-Za-z]+)(\d+)")
_VARIABLES: Mapping[str, str] = {
    "CUDA": "CUDA_VISIBLE_DEVICES",
    "ROCm": "ROCR_VISIBLE_DEVICES",
    # counts every Vulkan device, also those that llama.cpp leaves out and does not number
    "Vulkan": "GGML_VK_VISIBLE_DEVICES",
}


def variables(device_ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return NAME=0,2 for each backend named; devices that no variable can name are left out."""
    numbers: dict[str, list[str]] = {}
    for match in filter(None, map(_DEVICE.fullmatch, device_ids)):
        name = _VARIABLES.get(match[1])
        if name is not None:
            numbers.setdefault(name, []).append(match[2])
    return tuple(f"{name}={','.join(found)}" for name, found in numbers.items())


def unnamed(device_ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return the devices that no variable can name, such as RPC0."""
    return tuple(one for one in device_ids if not variables((one,)))
