"""Which buffer a weight goes to, and how many bytes it takes there (placement.md 1.3 to 1.8).

Sources: LLM_TENSOR_INFOS in src/llama-arch.cpp, create_tensor and weight_buft_supported in
src/llama-model-loader.cpp, make_cpu_buft_list in src/llama-model.cpp, ggml-cpu/repack.cpp and
ggml-cpu/amx, llama.cpp build 11434.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from app.core import quants
from app.core.machine import CpuKind, Device, DeviceKind
from app.core.model import Model, Tensor
from app.core.request import LoadRequest
from app.core.shape import Shape


class Op(Enum):
    """The operation a weight is used in; it decides which buffers can hold it."""

    MUL_MAT = "MUL_MAT"
    MUL_MAT_ID = "MUL_MAT_ID"
    GET_ROWS = "GET_ROWS"
    OTHER = "other"


class Place(Enum):
    """Where in the graph a weight belongs."""

    INPUT = "input"
    OUTPUT = "output"
    BLOCK = "block"


# The host buffers; all are system memory
CPU = "CPU"
CPU_MAPPED = "CPU_Mapped"
CPU_REPACK = "CPU_REPACK"
AMX = "AMX"

_INPUT = ("token_embd.", "per_layer_token_embd.", "position_embd.", "token_types.")
_OUTPUT = (
    "output.", "output_norm.", "token_embd_norm.", "cls.", "cls.output.", "cls.norm.", "dense_2.",
    "dense_3.", "altup_proj.", "altup_unembd_proj.", "output_hc_", "fc.", "d2t.",
    "dec.output_norm.", "enc.output_norm.",
)  # fmt: skip
_ROPE = ("rope_freqs.", "rope_factors_long.", "rope_factors_short.")
_OTHER_OPS = re.compile(
    r"ssm_conv1d|shortconv\.conv|ssm_a$|ssm_d$|_norm(_\d)?\.|attn_sinks|ffn_act|\.bias$|ssm_norm"
    r"|time_mix_(lerp|decay\.|first|ln|k_k|k_a|r_k|w0|a0|v0)|conv1d|rope_f"
)
_SKIPPED = re.compile(r"^masked_embd_|\.cross_attn_rel_b")
_PROBE_COLUMNS = 512  # weight_buft_supported tests with 512 columns

_AMX_BYTES: Mapping[str, tuple[int, int]] = {
    "q8_0": (38, 34), "q4_K": (148, 144), "q5_K": (180, 176), "iq4_xs": (138, 136),
    "q4_0": (1, 1), "q4_1": (1, 1), "q6_K": (1, 1), "f16": (1, 1),
}  # fmt: skip
_REPACK: Mapping[CpuKind, frozenset[str]] = {
    CpuKind.AVX2: frozenset({"q4_0", "q4_K", "iq4_nl", "mxfp4"}),
    CpuKind.AVX512: frozenset({"q4_0", "q4_K", "iq4_nl", "mxfp4", "q2_K"}),
    CpuKind.AMX: frozenset({"q4_0", "q4_K", "iq4_nl", "mxfp4", "q2_K"}),
    CpuKind.ARM: frozenset({"q4_0", "q4_K", "iq4_nl", "q5_K", "q6_K", "q8_0"}),
}
HOST_BUFFER: Mapping[DeviceKind, str] = {
    DeviceKind.CUDA: "CUDA_Host",
    DeviceKind.ROCM: "ROCm_Host",
    DeviceKind.VULKAN: "Vulkan_Host",
    DeviceKind.SYCL: "SYCL_Host",
}
_ROW_PADDED = frozenset({DeviceKind.CUDA, DeviceKind.ROCM, DeviceKind.SYCL, DeviceKind.RPC})
# llvmpipe and drivers without 64-bit shader indexing refuse larger tensors; None = no known limit
DEFAULT_MAX_BUFFER: Mapping[DeviceKind, int | None] = {
    DeviceKind.VULKAN: 4 << 30,
}


@dataclass(frozen=True, slots=True)
class Weight:
    """A tensor with what placement needs to know of it; computed once per model."""

    name: str
    type_name: str
    shape: tuple[int, ...]
    n_bytes: int
    place: Place
    block: int  # 0 for block tensors without a number
    op: Op
    is_duplicate: bool  # the second copy of a tied embedding
    is_rope: bool
    is_expert: bool
    part: int
    offset: int
    mold: str = field(init=False, repr=False)  # its name within a block, type and shape

    def __post_init__(self) -> None:
        name = self.name.split(".", 2)[-1] if self.name.startswith("blk.") else self.name
        object.__setattr__(self, "mold", f"{name} {self.type_name} {self.shape}")

    @property
    def is_block(self) -> bool:
        """Tell whether it belongs to a block by its name."""
        return self.name.startswith("blk.")

    @property
    def result_bytes(self) -> int:
        """Return the bytes of the probe's result, without the experts' factor."""
        columns = self.shape[1] if len(self.shape) > 1 else self.shape[0]
        if self.op is Op.GET_ROWS:
            columns = self.shape[0]
        return columns * _PROBE_COLUMNS * 4


@dataclass(frozen=True, slots=True)
class HostBuffers:
    """Which host buffers a load may use, in llama.cpp's order."""

    cpu: CpuKind
    pinned: str | None  # "Vulkan_Host", None when no device has one
    pinned_limit: int | None  # the device's own limit holds for its pinned buffer too
    maps_files: bool
    repacks: bool


def weights_of(model: Model, shape: Shape) -> tuple[Weight, ...]:
    """List the weights a load creates: MTP blocks and unused tensors skipped, tied output added."""
    found: list[Weight] = []
    for tensor in model.tensors:
        if _SKIPPED.search(tensor.name) or not quants.is_known(tensor.type_id):
            continue
        block = tensor.block
        if block is not None and block >= shape.n_layer:
            continue  # MTP block: "model has unused tensor ... ignoring"
        found.append(_weight(tensor, shape))
    if "output.weight" not in model.by_name and "token_embd.weight" in model.by_name:
        found.append(_tied_output(model.by_name["token_embd.weight"]))
    return tuple(found)


def place_of(name: str, shape: Shape) -> Place:
    """Return the class of a tensor by its name."""
    if name.startswith("blk."):
        return Place.BLOCK
    if name.startswith("token_embd_norm."):
        # LFM2 stores its final norm under this name
        return Place.OUTPUT if shape.arch.startswith("lfm2") else Place.BLOCK
    if name.startswith(_INPUT):
        return Place.INPUT
    if name.startswith(_OUTPUT):
        return Place.OUTPUT
    return Place.BLOCK


def buffer_on_host(weight: Weight, host: HostBuffers, used_experts: int) -> str:
    """Return the host buffer that takes a weight: pinned, AMX, CPU_REPACK or CPU."""
    plain = CPU_MAPPED if host.maps_files else CPU
    if host.pinned is not None and _within(weight, host.pinned_limit, used_experts):
        # after the choice a mapped file turns the pinned buffer into the plain one
        return plain if host.maps_files else host.pinned
    if host.repacks and host.cpu is CpuKind.AMX and _amx_takes(weight):
        return AMX
    if host.repacks and _repack_takes(weight, host.cpu):
        return CPU_REPACK
    return plain


def fits_device(weight: Weight, device: Device, used_experts: int) -> bool:
    """Tell whether the device can run the weight's operation within its buffer limit."""
    if device.kind is DeviceKind.VULKAN and _is_mamba_1_scan(weight):
        return False  # its SSM_SCAN shader knows the state layout of Mamba-2 alone
    return _within(weight, limit_of(device), used_experts)


def limit_of(device: Device) -> int | None:
    """Return the largest tensor or result a device takes, None when no limit is known."""
    given = device.max_buffer_bytes
    return DEFAULT_MAX_BUFFER.get(device.kind) if given is None else given


def bytes_in(weight: Weight, buffer: str, kind: DeviceKind | None) -> int:
    """Return the bytes a weight takes in a buffer, row padding and AMX packing included."""
    if buffer == AMX:
        numerator, denominator = _AMX_BYTES[weight.type_name]
        return weight.n_bytes * numerator // denominator
    if kind in _ROW_PADDED and weight.type_name not in ("f32", "f16", "bf16"):
        rest = weight.shape[0] % 512
        if rest:
            return weight.n_bytes + quants.row_bytes(weight.type_name, 512 - rest)
    return weight.n_bytes


def host_buffers(
    devices: tuple[Device, ...], request: LoadRequest, cpu: CpuKind, *, dry_pass: bool
) -> HostBuffers:
    """Return the host buffers of a load; a dry pass (--fit, llama-fit-params) never maps files."""
    pinned, limit = None, None
    if request.host_buffers:
        for device in devices:
            if device.kind in HOST_BUFFER:
                pinned = HOST_BUFFER[device.kind]
                limit = limit_of(device)
                break
    # integrated CUDA, ROCm and Vulkan devices say no to mapping (placement.md 1.7)
    refuses = any(
        d.is_integrated and d.kind in (DeviceKind.CUDA, DeviceKind.ROCM, DeviceKind.VULKAN)
        for d in devices
    )
    mode = request.load_mode
    maps = not dry_pass and (mode.startswith("mmap") or (mode == "auto" and not refuses))
    return HostBuffers(cpu, pinned, limit, maps, request.repack)


def _weight(tensor: Tensor, shape: Shape) -> Weight:
    place = place_of(tensor.name, shape)
    return Weight(
        name=tensor.name,
        type_name=quants.name_of(tensor.type_id),
        shape=tensor.shape,
        n_bytes=tensor.n_bytes,
        place=place,
        block=tensor.block or 0,
        op=_op(tensor, place),
        is_duplicate=False,
        is_rope=tensor.name.startswith(_ROPE),
        is_expert="_exps" in tensor.name or "_chexps" in tensor.name,
        part=tensor.part,
        offset=tensor.offset,
    )


def _tied_output(embedding: Tensor) -> Weight:
    return Weight(
        name="token_embd.weight",
        type_name=quants.name_of(embedding.type_id),
        shape=embedding.shape,
        n_bytes=embedding.n_bytes,
        place=Place.OUTPUT,
        block=0,
        op=Op.MUL_MAT,
        is_duplicate=True,
        is_rope=False,
        is_expert=False,
        part=embedding.part,
        offset=embedding.offset,
    )


def _op(tensor: Tensor, place: Place) -> Op:
    if place is Place.INPUT:
        return Op.GET_ROWS
    if len(tensor.shape) < 2 or _OTHER_OPS.search(tensor.name):
        return Op.OTHER
    return Op.MUL_MAT_ID if "exps." in tensor.name else Op.MUL_MAT


def _within(weight: Weight, limit: int | None, used_experts: int) -> bool:
    if limit is None:
        return True
    if weight.op is Op.OTHER:
        return weight.n_bytes <= limit
    factor = used_experts if weight.op is Op.MUL_MAT_ID else 1
    if weight.op is Op.MUL_MAT and len(weight.shape) > 2:
        for n in weight.shape[2:]:
            factor *= n
    return weight.n_bytes <= limit and weight.result_bytes * factor <= limit


def _is_mamba_1_scan(weight: Weight) -> bool:
    return weight.name.endswith(".ssm_a") and len(weight.shape) == 2 and weight.shape[0] > 1


def _amx_takes(weight: Weight) -> bool:
    return (
        weight.op is Op.MUL_MAT
        and len(weight.shape) == 2
        and weight.type_name in _AMX_BYTES
        and weight.shape[1] % 32 == 0
    )


def _repack_takes(weight: Weight, cpu: CpuKind) -> bool:
    if weight.type_name not in _REPACK.get(cpu, frozenset()) or len(weight.shape) < 2:
        return False
    wanted = {Op.MUL_MAT: 2, Op.MUL_MAT_ID: 3}.get(weight.op)
    return wanted == len(weight.shape) and weight.shape[1] % 8 == 0
