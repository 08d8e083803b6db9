"""What Vulkan computes, and in which order (ggml-vulkan.cpp, build 11434)."""

from collections.abc import Callable

from app.core import quants
from app.core.graph.tensor import Tensor

_NO_MATRIX = frozenset({"i8", "i16", "i32", "i64", "f64", "q8_1", "q8_K"})
_WRITES = frozenset({
    "f32", "f16", "bf16", "q1_0", "q2_0", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl"
})  # fmt: skip
_DELTA_HEADS = (16, 32, 64, 128)
_SCAN_STATES = (128, 256)


def can_compute(limit: int | None) -> Callable[[Tensor], bool]:
    """Return ggml_backend_vk_device_supports_op for a device with a largest buffer or range."""

    def can(node: Tensor) -> bool:
        if limit is not None and (
            node.n_bytes > limit or any(source.n_bytes > limit for source in node.src)
        ):
            return False
        check = _CHECKS.get(node.op)
        return check is None or check(node)

    return can


def _matrix(node: Tensor) -> bool:
    a, b = node.src[0], node.src[1]
    if a.kind in _NO_MATRIX:
        return False
    other = node.src[2] if node.op == "MUL_MAT_ID" else a
    if other.ne[3] != b.ne[3]:
        return False
    plain = ("f32", "f16", "bf16")
    return (_is_dense(a) or a.kind in plain) and (_is_dense(b) or b.kind in plain[:2])


def _is_dense(x: Tensor) -> bool:
    """ggml_vk_dim01_contiguous."""
    one = quants.BY_NAME[x.kind]
    is_row = x.nb[0] == one.block_bytes
    is_matrix = x.nb[1] == x.nb[0] * x.ne[0] // one.block_values
    return is_row and is_matrix and (x.ne[3] == 1 or x.nb[3] == x.nb[2] * x.ne[2])


def _flash(node: Tensor) -> bool:
    k, v = node.src[1], node.src[2]
    return k.ne[0] % 8 == 0 and v.ne[0] % 8 == 0


def _scan(node: Tensor) -> bool:
    # its shader knows the state layout of Mamba-2 alone
    states, head_dim = node.src[0].ne[:2]
    return node.src[3].ne[0] == 1 and states in _SCAN_STATES and head_dim % 16 == 0


_CHECKS: dict[str, Callable[[Tensor], bool]] = {
    "MUL_MAT": _matrix,
    "MUL_MAT_ID": _matrix,
    "FLASH_ATTN_EXT": _flash,
    "SET_ROWS": lambda node: node.kind in _WRITES,
    "SCALE": lambda node: node.src[0].is_contiguous,
    "SOFT_MAX": lambda node: node.src[0].is_contiguous,
    "ARGSORT": lambda node: node.src[0].is_contiguous,
    "GATED_DELTA_NET": lambda node: node.src[2].ne[0] in _DELTA_HEADS,
    "SSM_SCAN": _scan,
}
