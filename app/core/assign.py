"""Which device each layer goes to (load_tensors in src/llama-model.cpp, llama.cpp build 11434)."""

import array
import bisect

from app.core.eras import is_output_first
from app.core.errors import UserError
from app.core.machine import Device, DeviceKind, Host
from app.core.request import LoadRequest, SplitMode

# "device RPC0 does not support split buffers" (llama-model.cpp, build 11434, run on RPC); only
# ggml-cuda, which ROCm is built from, and ggml-sycl have them
_SPLIT_BUFFERS = (DeviceKind.CUDA, DeviceKind.ROCM, DeviceKind.SYCL, DeviceKind.OTHER)


def usable_devices(devices: tuple[Device, ...], request: LoadRequest) -> tuple[Device, ...]:
    """Return the devices a load uses, in llama.cpp's order (llama_prepare_model_devices)."""
    if not request.use_devices:
        return ()
    if request.device_ids:
        by_id = {device.id: device for device in devices}
        unknown = [name for name in request.device_ids if name not in by_id]
        if unknown:
            raise UserError(
                f"There is no device {unknown[0]}",
                f"Known devices: {', '.join(by_id) or 'none'}.",
                "Choose one of them.",
            )
        chosen = tuple(by_id[name] for name in request.device_ids)
    else:
        remote = [d for d in devices if d.kind is DeviceKind.RPC]
        local = [d for d in devices if d.kind is not DeviceKind.RPC]
        discrete = [d for d in local if not d.is_integrated]
        chosen = (*remote, *(discrete or local))  # an RPC server does not displace an iGPU
    whole = [device for device in chosen if device.kind not in _SPLIT_BUFFERS]
    if request.split_mode is SplitMode.ROW and whole:
        raise UserError(
            f"Split mode row does not work on {whole[0].id}",
            "llama.cpp refuses the load: this device does not support split buffers.",
            "Use split mode layer.",
        )
    if request.split_mode is SplitMode.NONE and chosen:
        if not 0 <= request.main_gpu < len(chosen):
            return ()
        return (chosen[request.main_gpu],)
    return chosen


def assign(
    layers_total: int, devices: tuple[Device, ...], host: Host, request: LoadRequest,
    build: int | None = None,
) -> tuple[int, tuple[int | None, ...]]:  # fmt: skip
    """Return the layers asked for, and each layer's device index (None = host, output last)."""
    ngl = request.ngl
    wanted = layers_total if ngl is None or ngl < 0 else min(ngl, layers_total)
    active = wanted if devices else 0
    start = layers_total - active
    if not is_output_first(build) and 0 < active < layers_total:
        # the blocks go first, and the output only with one layer more than there are blocks
        last = list(_homes(layers_total - 1, start - 1, active, devices, host, request))
        return wanted, (*last, None)
    return wanted, _homes(layers_total, start, active, devices, host, request)


def _homes(  # noqa: PLR0917 - the terms of one formula
    n: int, start: int, active: int, devices: tuple[Device, ...], host: Host, request: LoadRequest
) -> tuple[int | None, ...]:
    bounds = _splits(devices, host, request)
    homes: list[int | None] = [None] * start
    for i in range(start, n):
        share = _single((i - start) / active)
        homes.append(min(bisect.bisect_right(bounds, share), len(devices) - 1))
    return tuple(homes)


def _splits(devices: tuple[Device, ...], host: Host, request: LoadRequest) -> list[float]:
    """Return the cumulative shares in single precision, or boundary layers would move."""
    given = request.tensor_split
    if any(given):
        sizes = [given[i] if i < len(given) else 0.0 for i in range(len(devices))]
    else:
        # a device that reports no memory counts with the host's free memory
        sizes = [float(d.free_bytes or host.available_bytes or 1) for d in devices]
    total = 0.0
    cumulative = []
    for size in sizes:
        total = _single(total + _single(size))
        cumulative.append(total)
    return [_single(value / total) for value in cumulative]


def _single(value: float) -> float:
    return array.array("f", [value])[0]
