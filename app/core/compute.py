"""Compute buffers in closed form, by build (placement.md sections 3 and 10.3).

One graph of u tokens is reserved; its peak is the compute buffer. The formulas hold within 1 MiB
for 92 to 97 % of llama-server loads that are on the host or wholly on one device; elsewhere the
range says how far they may be off.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from app.core.cache import Cache, Context, state_bytes
from app.core.compute_old import Old, older, widest
from app.core.eras import Change, Era, eras_of
from app.core.request import LoadRequest, Switch, Tool
from app.core.shape import Shape
from app.core.spans import Compute, Span

_F32 = 4
_NO_SCRATCH: Mapping[Change, int] = MappingProxyType({})
_ALTUP = "gemma3n"  # alternating updates keep 4 to 5 more copies of the embedding
_WIDE_AXES = ("phi3",)
_GATED_DELTA = ("qwen3next", "qwen35", "qwen35moe")
_MAMBA_2 = ("granitehybrid", "nemotron_h", "nemotron_h_moe", "mamba2", "jamba", "falcon-h1")


class Case(Enum):
    """How much of a model is on devices."""

    HOST_ONLY = "host only"
    ONE_ALL = "one device, all layers"
    ONE_PART = "one device, a part of the layers"
    MANY_ALL = "several devices, all layers"
    MANY_PART = "several devices, a part of the layers"


@dataclass(frozen=True, slots=True)
class Copies:
    """Host weights that a local GPU copies to itself for batches of 32 and more (op offload)."""

    device: int  # index of the first device that does so
    block: int  # bytes of the largest matrix in a block, 0 = none is copied
    output: int  # bytes of the output matrix, 0 = not copied
    cache: int  # bytes of the largest cache of a layer on the host


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The terms of the formulas, in bytes."""

    e: int
    q: int
    m: int  # masks
    v: int
    out: int
    block: int
    host: int  # a block on the host
    hosted_experts: int  # the experts of a block on the host, 0 = the model has none
    tables: int  # per-layer embeddings, which the host looks up


def compute_of(
    shape: Shape,
    context: Context,
    caches: tuple[Cache, ...],
    request: LoadRequest,
    *,
    case: Case,
    layers: tuple[int, ...],
    copies: Copies | None = None,
    is_ragged: bool = False,
    scratch: Mapping[Change, int] = _NO_SCRATCH,
    build: int | None,
) -> Compute:
    """Return the compute buffers of a load; layers counts those on each device, output included.

    is_ragged: layers on a device have matrices on the host, by an override or because they are
    refused. scratch: what flash attention takes besides, in builds with a change. build None = not
    known, so the range covers the rules of all ages.
    """
    s = _sizes(shape, context, caches, request)
    one_layer = max((n for one in caches for n in one.bytes_by_layer), default=0)
    old = Old(
        e=s.e,
        half_mask=s.m if request.flash_attn is not Switch.OFF else 0,
        logits=_F32 * context.n_ubatch * shape.n_vocab,
        is_delta=shape.arch in _GATED_DELTA,
        n_copies=4 if case is Case.MANY_ALL and _pipelines(request) else 1,
    )
    found = []
    for era in eras_of(build):
        beside = max((n for change, n in scratch.items() if era.has(change)), default=0)
        # the moment of attention (placement.md 10.3)
        own = replace(s, block=max(s.block, s.e + 3 * s.q + beside)) if beside else s
        base = _without_copies(shape, own, request, case=case, layers=layers, era=era)
        if copies is not None:
            base = _with_copies(base, own, layers, copies, era)
        if is_ragged:
            base = _widened(base, own)
        if not request.kv_offload and case is not Case.HOST_ONLY:
            base = _with_cache_copy(base, s, one_layer)
        found.append(older(base, old, era))
    return widest(found)


def _without_copies(
    shape: Shape,
    s: _Sizes,
    request: LoadRequest,
    *,
    case: Case,
    layers: tuple[int, ...],
    era: Era,
) -> Compute:
    m = s.m + s.v
    if case is Case.HOST_ONLY:
        return Compute(_near(max(s.host + m, s.out + s.m + 5 * s.e), 0.01), ())
    if case is Case.ONE_ALL:
        smaller = max(s.block + m - 2 * s.e, s.out + s.e)  # placement.md 10.3
        larger = max(s.block + m, s.out + s.m + 4 * s.e)
        return Compute(_inputs(s, era), (_by_era(smaller, larger, era),))
    if case is Case.MANY_ALL and _pipelines(request):
        middle = _near(s.block + 4 * (m + 3 * s.e), 0.15)
        last = max(s.block + 4 * m + 7 * s.e, s.out + 4 * (s.m + s.e) + 5 * s.e)
        devices = (middle,) * (len(layers) - 1) + (_near(last, 0.15),)
        return Compute(_near(4 * (m + 2 * s.e) + 2 * s.e, 0.05), devices)
    parts = _parts(s, m, layers, is_moe=shape.n_expert > 0)
    if case is Case.MANY_ALL:
        return Compute(_near(m + 4 * s.e, 0.15), parts)
    return Compute(_near(s.host + m, 0.10), parts)


def _with_copies(
    base: Compute, s: _Sizes, layers: tuple[int, ...], copies: Copies, era: Era
) -> Compute:
    """Move the work on host weights to the device that copies them.

    From Vulkan loads of build 10434: of the largest matrix about 0.8 does not fit the holes other
    tensors leave (0.59 for 4 bits, 0.79 for F16); a host layer's cache is copied for its attention
    (Gemma 3 270M, 5 layers at 32768: 91 MiB, without op offload 49). With the output matrix copied
    the device holds that matrix, its result and E, exact on two cards (placement.md 10.3).
    """
    m = s.m + s.v
    host = _inputs(s, era)
    least = s.block + m - 2 * s.e
    attention = 4 * s.e + 3 * s.q + m
    value = max(least + 4 * copies.block // 5, attention + copies.cache)
    most = max(
        s.block + m + 2 * copies.block,
        5 * (s.block + m) // 4,
        attention + 3 * copies.cache // 2,
    )
    if copies.output:
        value = max(value, copies.output + s.out + s.e)
        most = max(most, copies.output + s.out + 2 * s.e)
    devices = list(base.devices or (Span(0, 0, 0),) * len(layers))
    devices[copies.device] = Span(value, max(min(least, value), 0), max(most, value))
    host = Span(host.n_bytes, host.low, max(host.high, base.host.high))
    return Compute(host, tuple(devices))


def _widened(base: Compute, s: _Sizes) -> Compute:
    """Widen the ranges where blocks are worked on from both sides; measured only (section 3)."""
    m = s.m + s.v
    value = s.hosted_experts + s.m if s.hosted_experts else base.host.n_bytes
    host = Span(value, min(base.host.low, value), max(base.host.high, s.host + m, value))
    devices = tuple(Span(d.n_bytes, min(d.low, m + 2 * s.e), d.high) for d in base.devices)
    return Compute(host, devices)


def _with_cache_copy(base: Compute, s: _Sizes, one_layer: int) -> Compute:
    """Allow for the copy of a layer's cache with --no-kv-offload; measured only (section 3)."""
    host = Span(base.host.n_bytes, base.host.low, max(base.host.high, s.host + s.m + s.v))
    devices = tuple(
        Span(d.n_bytes, int(0.6 * d.low), d.high + one_layer if d.n_bytes else d.high)
        for d in base.devices
    )
    return Compute(host, devices)


def _parts(s: _Sizes, m: int, layers: tuple[int, ...], *, is_moe: bool) -> tuple[Span, ...]:
    """Return the buffers of devices that hold a part of the layers; the last one has the output.

    Where the output is elsewhere, 12 of 13 dense runs and half of the others in the truth file
    lie within 1 MiB of this.
    """
    output = max((d for d, n in enumerate(layers) if n), default=-1)
    found = []
    for d, n in enumerate(layers):
        if d == output:
            found.append(_near(max(s.block + m, s.out + s.e), 0.25))
        elif n:
            found.append(_near(s.block + m - (s.e if is_moe else 2 * s.e), 0.25))
        else:
            found.append(Span(0, 0, 0))
    return tuple(found)


def _near(n_bytes: int, error: float) -> Span:
    n_bytes = max(n_bytes, 0)  # what a block without its tensors has left
    return Span(n_bytes, int(n_bytes * (1 - error)), int(n_bytes * (1 + error)))


def _by_era(smaller: int, larger: int, era: Era) -> Span:
    """Return the larger where batches may mix tokens and embeddings, which takes 2E more."""
    if era.has(Change.MIXED_BATCHES):
        return _near(larger, 0.02)
    # some models need E less than the larger one, not 2E (placement.md 3, [10])
    return Span(smaller, int(smaller * 0.95), max(larger, int(smaller * 1.05)))


def outputs_max(context: Context, tool: Tool) -> int:
    """Return n_outputs_max: the server keeps one row per slot, the other programs a whole batch."""
    return context.n_seq_max if tool is Tool.SERVER else context.n_batch


def _pipelines(request: LoadRequest) -> bool:
    return request.kv_offload and not request.has_override


def _sizes(
    shape: Shape, context: Context, caches: tuple[Cache, ...], request: LoadRequest
) -> _Sizes:
    u = context.n_ubatch
    flash = request.flash_attn is not Switch.OFF
    e = _F32 * u * shape.n_embd
    head_k = 576 if shape.is_mla else shape.head_k
    q = _F32 * u * shape.n_head * head_k
    cells = max((cache.cells for cache in caches), default=0)
    mask = sum((2 if flash else 4) * u * cache.cells for cache in caches)
    kq = 0 if flash else _F32 * u * shape.n_head * cells
    v = 0
    if not flash and not shape.is_mla:
        widest = max((layer.v_values for layer in shape.layers), default=0)
        v = 8 * u * widest * len(caches)
    rows = min(u, outputs_max(context, request.tool))
    out = _F32 * rows * shape.n_vocab
    tables = _F32 * u * shape.per_layer_dim * shape.n_layer
    block = tables + max(
        _feed_forward(shape, u, e),
        _attention(shape, u, e, q, kq, flash=flash) if caches else 0,
        _recurrent(shape, context, u, e),
    )
    host = block + e
    if shape.arch == _ALTUP:
        host += tables - e  # the tables twice, and one copy of the embedding less
    if shape.arch == "mamba":
        host += _F32 * u * shape.inner
    return _Sizes(e, q, mask, v, out, block, host, _hosted_experts(shape, u, e), tables)


def _inputs(s: _Sizes, era: Era) -> Span:
    """Return what the host needs when all blocks are on a device: masks, embeddings, tables."""
    m = s.m + s.v
    more = s.tables + s.e if s.tables else 0
    return _by_era(m + 2 * s.e + more, m + 4 * s.e + more, era)


def _hosted_experts(shape: Shape, u: int, e: int) -> int:
    if not shape.n_expert:
        return 0
    x = _F32 * u * shape.n_ff_exp * shape.n_expert_used
    d = _F32 * u * shape.n_embd * shape.n_expert_used
    return max(3 * x + 2 * e, 2 * d + e)


def _feed_forward(shape: Shape, u: int, e: int) -> int:
    dense = 3 * _F32 * u * shape.n_ff + 4 * e if shape.n_ff else 0
    if shape.arch == _ALTUP:
        return dense + 5 * e
    if not shape.n_expert:
        return dense
    x = _F32 * u * shape.n_ff_exp * shape.n_expert_used
    d = _F32 * u * shape.n_embd * shape.n_expert_used
    mixed = 3 * x + 4 * e + (d if d > 2 * x else 0)
    return max(mixed, dense) if shape.n_lead_dense else mixed


def _attention(shape: Shape, u: int, e: int, q: int, kq: int, *, flash: bool) -> int:
    if shape.is_mla:
        return kq + 2 * q + _F32 * u * shape.n_head * shape.key_length_mla + 4 * e
    if flash:
        return 4 * e + 3 * q
    if shape.has_swa:
        return kq + 4 * e + 2 * q
    if shape.arch in _WIDE_AXES:
        return kq + 2 * e + 2 * q
    if shape.arch in _GATED_DELTA:
        return kq + 4 * e + 3 * q
    return kq + 2 * e + 3 * q


def _recurrent(shape: Shape, context: Context, u: int, e: int) -> int:
    if not shape.inner:
        return 0
    state = sum(state_bytes(layer, context) for layer in shape.layers[:1]) if shape.layers else 0
    state = max((state_bytes(layer, context) for layer in shape.layers), default=state)
    i = _F32 * u * shape.inner
    if shape.arch == "mamba":
        return 4 * i + 4 * e + state
    if shape.arch in _MAMBA_2:
        xbc = _F32 * u * (shape.inner + 2 * shape.groups * shape.state)
        zx = i + xbc + _F32 * u * shape.dt_rank
        return 4 * e + zx + 2 * xbc + i + state
    return 0
