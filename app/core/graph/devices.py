"""The backends of a load as the scheduler sees them: buffers, alignment, refusals, op offload.

From supports_op, offload_op, get_alignment, get_max_size and get_alloc_size of ggml-vulkan,
ggml-cuda, ggml-metal and ggml-rpc, build 11434. RPC takes every operation.
"""

from collections.abc import Callable

from app.core.eras import Change, Era
from app.core.graph.reorder import reordered, reordered_early
from app.core.graph.split import Backend
from app.core.graph.tensor import Tensor
from app.core.graph.vulkan import can_compute
from app.core.machine import Device, DeviceKind
from app.core.units import GIB
from app.core.weights import AMX, CPU, CPU_MAPPED, CPU_REPACK, HOST_BUFFER, limit_of

_OFFLOAD_TOKENS = 32  # GGML_OP_OFFLOAD_MIN_BATCH
_CPU_ALIGNMENT = 32
_PINNED_ALIGNMENT = 64  # minMemoryMapAlignment of the Vulkan specification, at least
_ALIGNMENT = {
    DeviceKind.CUDA: 128,
    DeviceKind.ROCM: 128,
    DeviceKind.SYCL: 128,
    DeviceKind.VULKAN: 16,
}
_VULKAN_CHUNK = GIB  # suballocation_block_size
_METAL_PARTS = 32  # work groups per head (ggml_metal_op_flash_attn_ext_extra_tmp)


def backends_of(devices: tuple[Device, ...], era: Era, *, op_offload: bool) -> tuple[Backend, ...]:
    """Return the devices' backends in their order, the processor last."""
    found = [_backend(device, era, op_offload=op_offload) for device in devices]
    return (*found, _processor(devices))


def copied_from() -> frozenset[str]:
    """Return the host buffers that op offload copies weights from: plain and pinned ones."""
    return frozenset((CPU, CPU_MAPPED, *HOST_BUFFER.values()))


def _processor(devices: tuple[Device, ...]) -> Backend:
    """Return the processor; what it computes lies in the first device's pinned memory."""
    pinned = HOST_BUFFER.get(devices[0].kind) if devices else None
    is_vulkan = bool(devices) and devices[0].kind is DeviceKind.VULKAN
    return Backend(
        own_buffer=pinned or CPU,
        buffers=copied_from() | {CPU_REPACK, AMX},
        alignment=_PINNED_ALIGNMENT if is_vulkan else _CPU_ALIGNMENT,
        chunk_bytes=_VULKAN_CHUNK if is_vulkan else None,
    )


def _backend(device: Device, era: Era, *, op_offload: bool) -> Backend:
    is_vulkan = device.kind is DeviceKind.VULKAN
    order = reordered if era.has(Change.NODES_OF_AUTUMN) else reordered_early
    copies = op_offload and device.kind is not DeviceKind.RPC
    return Backend(
        own_buffer=device.id,
        buffers=frozenset((device.id,)),
        alignment=_ALIGNMENT.get(device.kind, _CPU_ALIGNMENT),
        chunk_bytes=_VULKAN_CHUNK if is_vulkan else None,
        can=can_compute(limit_of(device)) if is_vulkan else None,
        offloads=_is_large if copies else None,
        reorders=order if is_vulkan else None,
        alloc_bytes=_flash_bytes(device.kind, era),
    )


def _is_large(node: Tensor) -> bool:
    """get_op_batch_size of a node, against the smallest batch that is worth a copy."""
    if node.op == "GET_ROWS":
        return False
    if node.op == "MUL_MAT":
        return node.ne[1] >= _OFFLOAD_TOKENS
    if node.op in ("MUL_MAT_ID", "ROPE"):
        return node.ne[2] >= _OFFLOAD_TOKENS
    return node.ne[1] * node.ne[2] * node.ne[3] >= _OFFLOAD_TOKENS


def _in_half(one: Tensor) -> int:
    """Return the bytes of an F16 copy."""
    return 2 * one.n_values


def _cuda_flash(node: Tensor) -> int:
    """Flash attention's result with F16 copies of what is not F16 (fattn.cu)."""
    extra = sum(_in_half(one) for one in node.src[1:3] if one.kind != "f16")
    return node.n_bytes + extra


def _metal_parts(node: Tensor) -> int:
    """Flash attention's result with parts of the sums (ggml_metal_op_flash_attn_ext_extra_tmp)."""
    head_v, n_head, n_tokens = node.ne[0], node.ne[1], min(node.ne[2], _METAL_PARTS)
    return node.n_bytes + 4 * n_tokens * n_head * _METAL_PARTS * (head_v + 2)


def _metal_flash(node: Tensor) -> int:
    """The same with F16 copies of K and V (placement.md 10.3)."""
    return _metal_parts(node) + sum(_in_half(one) for one in node.src[1:3])


def _flash_bytes(kind: DeviceKind, era: Era) -> Callable[[Tensor], int] | None:
    """Return what flash attention's node takes, None where it is the result alone."""
    if kind is DeviceKind.METAL:
        return _metal_flash if era.has(Change.METAL_COPIES) else _metal_parts
    if kind in (DeviceKind.CUDA, DeviceKind.ROCM) and era.has(Change.CUDA_COPIES):
        return _cuda_flash
    return None
