"""Compute buffers by building the graph of the load (core.graph), where the program is known.

Exact for builds 10434 and 11434 on the processor, on RPC devices and on Vulkan (tests/truth); of
other builds the order of nodes on Vulkan is that of one of the two. CUDA, ROCm, Metal and SYCL
follow their source; logs of real cards and of builds from 2025 on agree (tests/truth/gpus.py).
"""

from app.core.compute import outputs_max
from app.core.eras import Change, Era, eras_of
from app.core.graph.net import Batch, Homes
from app.core.graph.reserve import Job, is_known, reserve
from app.core.load import Placed
from app.core.machine import Device, DeviceKind
from app.core.request import SplitMode, Switch
from app.core.spans import Compute, Span
from app.core.units import MIB

_CLOSE, _CLOSE_BYTES = 0.01, MIB
_NEAR = {DeviceKind.VULKAN: 0.15}
_CHECKED = frozenset({DeviceKind.RPC, DeviceKind.VULKAN})
_UNCHECKED = 0.15
_SEVERAL = 0.2  # local cards that share a load, of which one log is known (placement.md 10.3)
# builds before the fused operation compute the delta net in chunks, in many small nodes that are
# not built here: up to so many more results of one layer (build_delta_net_chunking)
_DELTA_NETS = frozenset({"qwen3next", "qwen35", "qwen35moe"})
_CHUNK_RESULTS = 12


def by_graph(placed: Placed, build: int | None, *, is_dry: bool) -> Compute | None:
    """Return the compute buffers; None when the architecture is not known here.

    build None = not known, so the range covers builds of all ages.
    """
    if not is_known(placed.shape.arch):
        return None
    eras = eras_of(build)
    found = reserve(_job(placed, is_dry=is_dry), [_batch(placed, era) for era in eras])
    if found is None:
        return None
    more = max(_chunks(placed, era) for era in eras)
    sizes = [one.n_bytes for one in found]
    *devices, host = (
        _span(choices, _error(placed.devices, d), more)
        for d, choices in enumerate(zip(*sizes, strict=True))
    )
    keeps_flash = found[0].flash_attn or not placed.context.flash_attn
    return Compute(host, tuple(devices), is_by_graph=True, keeps_flash=keeps_flash)


def _error(devices: tuple[Device, ...], d: int) -> float:
    """Return how far a buffer may be off; the host's depends on what the devices refuse."""
    kinds = {device.kind for device in devices} if d == len(devices) else {devices[d].kind}
    if kinds <= {DeviceKind.RPC}:
        return _CLOSE
    if len(devices) > 1 and d < len(devices):
        return _SEVERAL
    return max(_NEAR.get(kind, _CLOSE if kind in _CHECKED else _UNCHECKED) for kind in kinds)


def _chunks(placed: Placed, era: Era) -> int:
    """Return what a build without the fused delta net may need beside the graph."""
    if placed.shape.arch not in _DELTA_NETS or era.has(Change.FUSED_DELTA):
        return 0
    return _CHUNK_RESULTS * 4 * placed.context.n_ubatch * placed.shape.inner


def _span(choices: tuple[int, ...], error: float, more: int) -> Span:
    low = int(min(choices) * (1 - error)) - _CLOSE_BYTES
    high = int(max(choices) * (1 + error)) + _CLOSE_BYTES + more
    return Span(choices[0], max(low, 0), high) if any(choices) else Span(0, 0, 0)


def _batch(placed: Placed, era: Era) -> Batch:
    context, request = placed.context, placed.request
    n_outputs = context.n_ubatch
    if era.has(Change.FEW_OUTPUTS):
        n_outputs = min(n_outputs, outputs_max(context, request.tool))
    cells = {one.is_swa: one.cells for one in placed.caches}
    n_seqs = context.n_seq_max
    flash = context.flash_attn
    return Batch(
        n_tokens=-(-context.n_ubatch // n_seqs) * n_seqs,
        n_seqs=n_seqs,
        n_outputs=n_outputs,
        flash_attn=flash,
        is_transposed=not flash,
        kind_k=request.cache_type_k,
        kind_v=request.cache_type_v,
        full_cells=cells.get(False, context.n_ctx_seq),
        window_cells=cells.get(True, 0),
        streams=context.streams,
        era=era,
    )


def _job(placed: Placed, *, is_dry: bool) -> Job:
    shape, request, n = placed.shape, placed.request, len(placed.devices)
    homes = tuple(n if home is None else home for home in placed.homes)
    buffers = [device.id for device in placed.devices] + ["CPU"]
    ngl = request.ngl
    is_full = ngl is None or ngl < 0 or ngl > shape.n_layer_all
    is_pipelined = (
        n > 1 and is_full and request.split_mode is SplitMode.LAYER
        and request.kv_offload and not request.has_override
    )  # fmt: skip
    return Job(
        shape=shape,
        homes=Homes(
            cpu=n,
            blocks=homes[: shape.n_layer],
            cache_buffers=tuple(
                buffers[home if request.kv_offload else n] for home in homes[: shape.n_layer]
            ),
            cache_on_cpu=not request.kv_offload,
            binds_norms=is_full,
        ),
        stowed=placed.stowed,
        devices=placed.devices,
        op_offload=request.op_offload,
        is_pipelined=is_pipelined,
        is_auto=request.flash_attn is Switch.AUTO and n > 0,
        is_dry=is_dry,
    )
