"""Bytes by layer, summed in the order of offloading, so that a load is a few subtractions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from app.core import cache, weights
from app.core.cache import Cache, Context
from app.core.compute import Case, Copies, compute_of
from app.core.machine import Device, DeviceKind, Host
from app.core.request import LoadRequest
from app.core.scratch import scratch_bytes
from app.core.shape import Shape
from app.core.spans import Compute, Span
from app.core.stow import Shelf, Stowed, stow
from app.core.weights import Op, Place, Weight


@dataclass(frozen=True, slots=True)
class LayerSums:
    """Weight bytes of the first n layers that are offloaded, n from 0.

    These are the output layer and then blocks from the last one backward; in builds before
    December 2025 the output layer comes after all blocks.
    """

    on_device: tuple[tuple[int, ...], ...]  # per device, if the layers are there
    beside: tuple[tuple[int, ...], ...]  # per device, what it refuses: system memory all the same
    on_host: tuple[int, ...]
    experts: tuple[int, ...]  # experts of the FIRST n blocks, as --n-cpu-moe counts, on device 0
    largest_expert: int
    largest_matrix: int  # of a block; what a local GPU copies of the host's weights
    inputs: int  # the embeddings, always in system memory
    late_output: int  # the output matrix where it is offloaded last, else 0

    @property
    def layers_total(self) -> int:
        """Return the number of layers, the output layer included."""
        return len(self.on_host) - 1


@dataclass(frozen=True, slots=True)
class ContextSums:
    """Context of the first n layers: bytes per cell of both kinds of cache, and the state."""

    full: tuple[int, ...]
    window: tuple[int, ...]
    state: tuple[int, ...]
    largest_full: int  # of one layer
    largest_window: int


@dataclass(frozen=True, slots=True)
class Need:
    """What a number of layers on the devices takes, in bytes at the top of the range."""

    ngl: int
    devices: tuple[int, ...]
    host: int
    context: int


def layer_sums(
    found: tuple[Weight, ...],
    shape: Shape,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    *,
    is_output_first: bool = True,
) -> LayerSums:
    """Sum the weights by layer: as if all were on each device in turn, and as if none were."""
    n = shape.layers_total

    def in_order(stowed: Sequence[Stowed], *, is_device: bool) -> tuple[int, ...]:
        by_layer = _by_layer(stowed, n, lambda entry: (entry.device is not None) is is_device)
        return _sums(by_layer, is_output_first=is_output_first)

    buffers = weights.host_buffers(devices, request, host.cpu, dry_pass=False)
    kinds: dict[tuple[object, int | None], tuple[Stowed, ...]] = {}
    own, beside = [], []
    for i, device in enumerate(devices):
        kind = (device.kind, device.max_buffer_bytes)
        if kind not in kinds:
            kinds[kind] = stow(found, Shelf(shape, devices, (i,) * n, buffers), request)
        own.append(in_order(kinds[kind], is_device=True))
        beside.append(in_order(kinds[kind], is_device=False))
    hosted = stow(found, Shelf(shape, devices, (None,) * n, buffers), request)
    first = next(iter(kinds.values()), ())
    experts = [e for e in first if e.device is not None and e.weight.is_expert]
    blocks = _by_layer(experts, n, lambda _entry: True)
    return LayerSums(
        on_device=tuple(own),
        beside=tuple(beside),
        on_host=in_order(hosted, is_device=False),
        experts=tuple(accumulate(blocks[: shape.n_layer], initial=0)),
        largest_expert=max((e.n_bytes for e in experts), default=0),
        largest_matrix=max((e.weight.n_bytes for e in first if _is_block_matrix(e)), default=0),
        inputs=sum(e.n_bytes for e in hosted if e.weight.place is Place.INPUT),
        late_output=0 if is_output_first else _output_matrix(first),
    )


def context_sums(
    shape: Shape, request: LoadRequest, context: Context, *, is_output_first: bool = True
) -> ContextSums:
    """Sum the caches by layer for the cache types of the request."""
    n = shape.layers_total
    full, window, state = [0] * n, [0] * n, [0] * n
    for i, layer in enumerate(shape.layers):
        state[i] = cache.state_bytes(layer, context)
        if layer.owns_cache:
            one_cell = cache.cell_bytes(shape, i, request, context.flash_attn)
            (window if layer.is_swa else full)[i] = one_cell
    return ContextSums(
        full=_sums(full, is_output_first=is_output_first),
        window=_sums(window, is_output_first=is_output_first),
        state=_sums(state, is_output_first=is_output_first),
        largest_full=max(full),
        largest_window=max(window),
    )


@dataclass(frozen=True, slots=True)
class Load:
    """One context and cache type, ready to be asked how many layers fit."""

    shape: Shape
    sums: LayerSums
    context_sums: ContextSums
    context: Context
    caches: tuple[Cache, ...]  # cells only
    request: LoadRequest
    devices: tuple[Device, ...]
    build: int | None

    def most_layers(self, budgets: tuple[int, ...]) -> Need:
        """Return the most layers that the devices can take within their budgets."""
        n = self.sums.layers_total
        if self.devices:
            everything = self._filled(budgets, self._compute(is_all=True), n)
            if everything.ngl == n:
                return everything
            part = self._filled(budgets, self._compute(is_all=False), n - 1)
            if part.ngl:
                return part
        return self._need((), self._compute_host(), 0)

    def experts_on_host(self, budget: int, copies: int) -> int | None:
        """Return the fewest blocks whose experts must stay on the host, all layers offloaded.

        One device only; None when even all of them are not enough, or there are no experts.
        """
        if len(self.devices) != 1 or not self.sums.largest_expert:
            return None
        n = self.sums.layers_total
        compute = self._compute(is_all=True)
        need = self._need((n,), compute, n).devices[0] + copies * self.sums.largest_expert
        experts = self.sums.experts
        return next((i for i in range(1, len(experts)) if need - experts[i] <= budget), None)

    def _filled(self, budgets: tuple[int, ...], compute: Compute, most: int) -> Need:
        """Fill the devices with whole layers, the last device and the output layer first."""
        counts = [0] * len(self.devices)
        taken = 0
        for d in reversed(range(len(self.devices))):
            room = budgets[d] - compute.devices[d].high
            counts[d] = self._most(d, taken, most - taken, room)
            taken += counts[d]
        return self._need(tuple(counts), compute, taken)

    def _most(self, device: int, taken: int, limit: int, room: int) -> int:
        """Return the most layers, after those already taken, that a device has room for."""
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            if self._on(device, taken, taken + middle) <= room:
                low = middle
            else:
                high = middle - 1
        return low if room >= 0 else 0

    def _need(self, counts: tuple[int, ...], compute: Compute, ngl: int) -> Need:
        sums = self.sums
        n = sums.layers_total
        host = sums.inputs + sums.on_host[n] - sums.on_host[ngl] + compute.host.high
        host += 4 * self.shape.n_vocab * self.context.n_seq_max  # the logits, in no device
        offloads_kv = self.request.kv_offload
        host += self._context(ngl if offloads_kv else 0, n)
        devices = []
        taken = 0
        for d in reversed(range(len(counts))):
            upto = taken + counts[d]
            used = self._on(d, taken, upto)
            devices.append(used + compute.devices[d].high if counts[d] else 0)
            host += sums.beside[d][upto] - sums.beside[d][taken]
            taken = upto
        return Need(ngl, tuple(reversed(devices)), host, self._context(0, n))

    def _on(self, device: int, start: int, end: int) -> int:
        """Return weights and cache of the layers from the start-th to the end-th from the back."""
        own = self.sums.on_device[device]
        used = own[end] - own[start]
        return used + (self._context(start, end) if self.request.kv_offload else 0)

    def _context(self, start: int, end: int) -> int:
        sums, streams = self.context_sums, self.context.streams
        n_bytes = sums.state[end] - sums.state[start]
        for one in self.caches:
            per_cell = sums.window if one.is_swa else sums.full
            n_bytes += (per_cell[end] - per_cell[start]) * one.cells * streams
        return n_bytes

    def _compute(self, *, is_all: bool) -> Compute:
        if len(self.devices) == 1:
            case = Case.ONE_ALL if is_all else Case.ONE_PART
        else:
            case = Case.MANY_ALL if is_all else Case.MANY_PART
        return self._spans(case)

    def _compute_host(self) -> Compute:
        return self._spans(Case.HOST_ONLY)

    def _spans(self, case: Case) -> Compute:
        compute = compute_of(
            self.shape,
            self.context,
            self.caches,
            self.request,
            case=case,
            layers=(1,) * len(self.devices),
            copies=self._copies() if case in (Case.ONE_PART, Case.MANY_PART) else None,
            build=self.build,
        )
        pairs = zip(self.devices, compute.devices, strict=False)
        return replace(compute, devices=tuple(self._with_scratch(d, span) for d, span in pairs))

    def _with_scratch(self, device: Device, span: Span) -> Span:
        more = scratch_bytes(device.kind, self.shape, self.caches, self.request)
        return Span(span.n_bytes + more, span.low, span.high + more)

    def _copies(self) -> Copies | None:
        """Return what the first local GPU copies while blocks are on the host."""
        local = (d for d, one in enumerate(self.devices) if one.kind is not DeviceKind.RPC)
        first = next(local, None)
        if first is None or not self.request.op_offload:
            return None
        sums = self.sums
        return Copies(first, sums.largest_matrix, sums.late_output, self._largest_cache())

    def _largest_cache(self) -> int:
        sums = self.context_sums
        return max(
            (
                (sums.largest_window if one.is_swa else sums.largest_full)
                * one.cells
                * self.context.streams
                for one in self.caches
            ),
            default=0,
        )


def load_of(
    shape: Shape,
    sums: LayerSums,
    context_sums: ContextSums,
    request: LoadRequest,
    devices: tuple[Device, ...],
    *,
    ctx: int,
    build: int | None,
) -> Load:
    """Make a load for one context; the request gives the cache types."""
    asked = replace(request, ctx=ctx)
    context = cache.context_of(shape, asked)
    cells = cache.cells_of(shape, context, asked)
    caches = tuple(Cache(n, context.streams, is_swa, (), ()) for n, is_swa in cells)
    return Load(shape, sums, context_sums, context, caches, asked, devices, build)


def _is_block_matrix(entry: Stowed) -> bool:
    weight = entry.weight
    is_matrix = weight.op in (Op.MUL_MAT, Op.MUL_MAT_ID)
    return entry.device is not None and weight.place is Place.BLOCK and is_matrix


def _by_layer(stowed: Sequence[Stowed], n: int, is_counted: Callable[[Stowed], bool]) -> list[int]:
    by_layer = [0] * n
    for entry in stowed:
        weight = entry.weight
        if weight.place is not Place.INPUT and is_counted(entry):
            by_layer[n - 1 if weight.place is Place.OUTPUT else weight.block] += entry.n_bytes
    return by_layer


def _output_matrix(stowed: Sequence[Stowed]) -> int:
    """Return the output matrix where a device takes it, else 0."""
    return max(
        (
            entry.weight.n_bytes
            for entry in stowed
            if entry.device is not None
            and entry.weight.place is Place.OUTPUT
            and entry.weight.op is Op.MUL_MAT
        ),
        default=0,
    )


def _sums(by_layer: Sequence[int], *, is_output_first: bool) -> tuple[int, ...]:
    """Sum in the order of offloading; by_layer has the output layer at its end."""
    *blocks, output = by_layer
    blocks.reverse()
    ordered = (output, *blocks) if is_output_first else (*blocks, output)
    return tuple(accumulate(ordered, initial=0))
