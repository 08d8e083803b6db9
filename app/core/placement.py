"""Where llama.cpp puts a model's bytes: rows per buffer, layers per device, and f.

The rules are those of placement.md sections 1 to 3 and 5, build 11434. Weights and context are
exact; compute buffers come with a range.
"""

from collections import defaultdict
from dataclasses import dataclass

from app.core import cache, reads, row_split, weights
from app.core.assign import assign, usable_devices
from app.core.cache import Cache, Context
from app.core.compute_load import compute_of_load, copies_of
from app.core.defaults import as_of
from app.core.load import Placed
from app.core.machine import Device, Host
from app.core.model import Model
from app.core.request import LoadRequest
from app.core.shape import UNDERIVED_CACHES, Shape, shape_of
from app.core.spans import Compute, Span
from app.core.stow import Shelf, mapped_bytes, stow
from app.core.weights import Place, Weight

HOST_ROW = "Host"
_SOURCE = "calculated from the GGUF header by llama.cpp's rules"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of llama.cpp's memory breakdown, in bytes."""

    buffer: str
    is_host: bool
    weights_bytes: int
    context_bytes: int
    compute_bytes: int
    compute_low_bytes: int
    compute_high_bytes: int

    @property
    def total_bytes(self) -> int:
        """Return the sum, with the expected compute buffer."""
        return self.weights_bytes + self.context_bytes + self.compute_bytes

    @property
    def high_bytes(self) -> int:
        """Return the sum with the largest compute buffer of the range."""
        return self.weights_bytes + self.context_bytes + self.compute_high_bytes


@dataclass(frozen=True, slots=True)
class LayerPlace:
    """Where a layer is: its device, or None for the host; bytes of its weights and cache."""

    index: int  # the output layer is the last
    device: str | None
    weights_bytes: int
    context_bytes: int
    host_weights_bytes: int  # the part of its weights that is in system memory


@dataclass(frozen=True, slots=True)
class Share:
    """The host's share of the bytes per token and of the layers, and those bytes."""

    f: float
    f_layers: float
    read_bytes: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is derived from a header once, so that each slider move stays cheap."""

    name: str
    shape: Shape
    weights: tuple[Weight, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """The answer for one request; all sizes in bytes."""

    rows: tuple[Row, ...]  # devices first, then Host, CPU_REPACK, AMX
    layers: tuple[LayerPlace, ...]
    caches: tuple[Cache, ...]
    context: Context
    ngl: int  # layers asked for, as in "offloaded N/M"
    layers_total: int
    reads: reads.Reads
    embedding_bytes: int
    output_bytes: int  # logits buffer in system memory; in no row of the breakdown
    mapped_bytes: int | None  # what CPU_Mapped would print, None when nothing is mapped
    fill: int  # tokens in the context for which f holds
    not_calculated: tuple[str, ...] = ()
    source: str = ""  # of all figures, in words

    @property
    def f(self) -> float:
        """Return the host's share of the bytes read per generated token."""
        total = self.reads.total_bytes
        return self.reads.host_bytes / total if total else 0.0

    @property
    def f_layers(self) -> float:
        """Return the host's share of the layers: those there, or with most of their bytes there."""
        return _share_of_layers(self.layers)

    def row(self, buffer: str) -> Row | None:
        """Return the row of a buffer."""
        return next((row for row in self.rows if row.buffer == buffer), None)

    def total(self, *, is_host: bool) -> Row:
        """Return the sum of the device rows, or of the host rows."""
        chosen = [row for row in self.rows if row.is_host is is_host]
        return Row(
            "system memory" if is_host else "devices",
            is_host,
            sum(row.weights_bytes for row in chosen),
            sum(row.context_bytes for row in chosen),
            sum(row.compute_bytes for row in chosen),
            sum(row.compute_low_bytes for row in chosen),
            sum(row.compute_high_bytes for row in chosen),
        )


def _source_of(build: int | None) -> str:
    """Return where a placement's figures come from."""
    if build is None:
        return f"{_SOURCE}; its build is not known, so ranges cover builds since 2025"
    return f"{_SOURCE}, as build {build} has them"


def prepare(model: Model) -> Prepared:
    """Derive shape and weights of a model; UserError when it is no language model."""
    shape = shape_of(model)
    return Prepared(model.name, shape, weights.weights_of(model, shape))


def place(
    prepared: Prepared,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    *,
    fill: int = 0,
    dry_pass: bool = False,
    build: int | None = None,
) -> Placement:
    """Place a model.

    fill is how many tokens the context holds when a token is generated; build is llama.cpp's,
    None = not known; dry_pass is what --fit and llama-fit-params do, which maps no file.
    """
    shape = prepared.shape
    ngl, maps_files, load = _load_of(prepared, devices, host, request, build, is_dry=dry_pass)
    compute = compute_of_load(load, build, is_dry=dry_pass)
    if not compute.keeps_flash:
        cache.check_without_flash(request)
    return Placement(
        rows=_rows(load, compute),
        layers=_layers(load),
        caches=load.caches,
        context=load.context,
        ngl=ngl,
        layers_total=shape.layers_total,
        reads=_reads(load, fill),
        embedding_bytes=sum(w.n_bytes for w in prepared.weights if w.place is Place.INPUT),
        output_bytes=4 * shape.n_vocab * load.context.n_seq_max,
        mapped_bytes=mapped_bytes(load.stowed) if maps_files else None,
        fill=fill,
        not_calculated=_not_calculated(load, compute) + row_split.said(load, build),
        source=_source_of(build),
    )


def share_of(
    prepared: Prepared,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    *,
    fill: int = 0,
    build: int | None = None,
) -> Share:
    """Return the host's shares of a load; without its compute buffers, which no share needs."""
    _ngl, _maps, load = _load_of(prepared, devices, host, request, build, is_dry=False)
    counted = _reads(load, fill)
    return Share(
        counted.host_bytes / counted.total_bytes if counted.total_bytes else 0.0,
        _share_of_layers(_layers(load)),
        counted.total_bytes,
    )


def _load_of(
    prepared: Prepared, devices: tuple[Device, ...], host: Host, request: LoadRequest,
    build: int | None, *, is_dry: bool,
) -> tuple[int, bool, Placed]:  # fmt: skip
    """Return the layers asked for, whether files are mapped, and where everything lies."""
    shape, request = prepared.shape, as_of(request, build)
    cache.check_types(shape, request)
    chosen = usable_devices(devices, request)
    row_split.check(chosen, request.split_mode, build)
    context = cache.context_of(shape, request)
    ngl, homes = assign(shape.layers_total, chosen, host, request, build)
    buffers = weights.host_buffers(chosen, request, host.cpu, dry_pass=is_dry)
    stowed = stow(prepared.weights, Shelf(shape, chosen, homes, buffers), request)
    caches = cache.caches_of(shape, context, request)
    load = Placed(
        shape, request, chosen, homes, context, caches, stowed,
        _context_bytes(shape, context, caches),
    )  # fmt: skip
    return ngl, buffers.maps_files, load


def _reads(load: Placed, fill: int) -> reads.Reads:
    n = len(load.devices)
    return reads.add(
        reads.weight_reads(load.stowed, load.shape, n),
        reads.context_reads(
            load.shape, load.caches, load.context, load.homes, load.request,
            fill=fill, n_devices=n,
        ),
    )  # fmt: skip


def _share_of_layers(layers: tuple[LayerPlace, ...]) -> float:
    if all(layer.device is not None for layer in layers):
        layers = layers[:-1]  # --n-cpu-moe N: the share is N / blocks (slowdown.md section 3)
    on_host = [
        layer.device is None or 2 * layer.host_weights_bytes > layer.weights_bytes
        for layer in layers
    ]
    return sum(on_host) / len(on_host)


def _context_bytes(shape: Shape, context: Context, caches: tuple[Cache, ...]) -> tuple[int, ...]:
    sizes = [cache.state_bytes(layer, context) for layer in shape.layers]
    for one in caches:
        for i, n_bytes in zip(one.layers, one.bytes_by_layer, strict=True):
            sizes[i] += n_bytes
    return tuple(sizes)


def _rows(load: Placed, compute: Compute) -> tuple[Row, ...]:
    by_weights: dict[str, int] = defaultdict(int)
    for entry in row_split.spread(load):
        is_own_row = entry.device is not None or entry.buffer in (weights.CPU_REPACK, weights.AMX)
        by_weights[entry.buffer if is_own_row else HOST_ROW] += entry.n_bytes
    by_context: dict[str, int] = defaultdict(int)
    for home, n_bytes in zip(load.homes, load.context_bytes, strict=False):
        is_host = home is None or not load.request.kv_offload
        by_context[HOST_ROW if is_host else load.devices[home or 0].id] += n_bytes
    nothing = Span(0, 0, 0)
    spans = compute.devices + (nothing,) * (len(load.devices) - len(compute.devices))
    rows = [
        _row(device.id, by_weights, by_context, span)
        for device, span in zip(load.devices, spans, strict=True)
    ]
    rows.append(_row(HOST_ROW, by_weights, by_context, compute.host))
    rows += [
        _row(name, by_weights, by_context, nothing)
        for name in (weights.CPU_REPACK, weights.AMX)
        if by_weights[name]
    ]
    return tuple(rows)


def _row(name: str, by_weights: dict[str, int], by_context: dict[str, int], compute: Span) -> Row:
    return Row(
        buffer=name,
        is_host=name in (HOST_ROW, weights.CPU_REPACK, weights.AMX),
        weights_bytes=by_weights[name],
        context_bytes=by_context[name],
        compute_bytes=compute.n_bytes,
        compute_low_bytes=compute.low,
        compute_high_bytes=compute.high,
    )


def _layers(load: Placed) -> tuple[LayerPlace, ...]:
    sums = [0] * len(load.homes)
    on_host = [0] * len(load.homes)
    for entry in load.stowed:
        weight = entry.weight
        if weight.place is Place.INPUT or weight.is_rope:
            continue
        index = len(sums) - 1 if weight.place is Place.OUTPUT else weight.block
        sums[index] += weight.n_bytes
        on_host[index] += weight.n_bytes if entry.device is None else 0
    return tuple(
        LayerPlace(
            index=i,
            device=None if home is None else load.devices[home].id,
            weights_bytes=sums[i],
            context_bytes=load.context_bytes[i] if i < len(load.context_bytes) else 0,
            host_weights_bytes=on_host[i],
        )
        for i, home in enumerate(load.homes)
    )


def _not_calculated(load: Placed, compute: Compute) -> tuple[str, ...]:
    reasons = []
    if load.shape.arch in UNDERIVED_CACHES:
        reasons.append(
            f"The context memory of {load.shape.arch} models (indexed or compressed cache) is "
            "not derived from the header; only llama.cpp's own figure is right."
        )
    if not compute.is_by_graph and copies_of(load) is not None:
        reasons.append(
            "Compute buffers of a local GPU hold copies of host weights (op offload); their figure "
            "is an estimate."
        )
    if not compute.is_by_graph and load.request.has_override and load.devices:
        reasons.append("Compute buffers with tensor overrides are an estimate.")
    if not compute.is_by_graph and not load.request.kv_offload and load.devices:
        reasons.append("Compute buffers with the cache on the host are an estimate.")
    return tuple(reasons)
