"""Memory that flash attention takes for itself on some backends (placement.md 10.3).

It is part of the compute buffer since autumn 2026, before that it came on top.
"""

from app.core.cache import Cache
from app.core.eras import Change
from app.core.machine import DeviceKind
from app.core.request import LoadRequest, Switch
from app.core.shape import Shape

_HALF = 2
_METAL_PARTS = 32  # work groups per head, and tokens (ggml_metal_op_flash_attn_ext_extra_tmp)
_COPIES = frozenset({DeviceKind.CUDA, DeviceKind.ROCM})  # of what is not F16 (fattn.cu)
# since when it is part of the compute buffer
SINCE = {
    DeviceKind.CUDA: Change.CUDA_COPIES,
    DeviceKind.ROCM: Change.CUDA_COPIES,
    DeviceKind.METAL: Change.METAL_COPIES,
}


def scratch_bytes(
    kind: DeviceKind, shape: Shape, caches: tuple[Cache, ...], request: LoadRequest
) -> int:
    """Return the bytes for the largest layer: F16 copies of K and V, on Metal parts of the sums."""
    is_metal = kind is DeviceKind.METAL
    if request.flash_attn is Switch.OFF or not (is_metal or kind in _COPIES):
        return 0
    k = max((layer.k_values for layer in shape.layers), default=0)
    v = 0 if shape.is_mla else max((layer.v_values for layer in shape.layers), default=0)
    values = (k if is_metal or request.cache_type_k != "f16" else 0) + (
        v if is_metal or request.cache_type_v != "f16" else 0
    )
    cells = max((one.cells * one.streams for one in caches), default=0)
    head_v = max((layer.head_v for layer in shape.layers), default=0)
    parts = 4 * _METAL_PARTS**2 * shape.n_head * (head_v + 2) if is_metal else 0
    return _HALF * values * cells + parts
