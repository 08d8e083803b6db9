"""What fits: quantisation x cache type x context against the devices and the system memory.

Rule of the verdict: on each device the weights, the cache and the largest compute buffer of its
range must leave the fit target free (1024 MiB, llama.cpp's own default), or what the driver takes
per process if that is more; what is left over must fit into the system memory that is available.
Layers go to the devices as --fit puts them: whole layers, from the last device and the output
layer backward (before December 2025 the output layer goes after all blocks). Bytes are those of
core.placement, but for copies of the rope factors (1 KiB).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from app.core import cache, fit_sums, quants, requant
from app.core.assign import usable_devices
from app.core.defaults import as_of
from app.core.eras import is_output_first
from app.core.errors import UserError
from app.core.fit_sums import ContextSums, LayerSums, Load, Need
from app.core.machine import Device, Host
from app.core.model import Model
from app.core.overhead import margin_of, sentence
from app.core.request import LoadRequest
from app.core.shape import UNDERIVED_CACHES, Shape, shape_of
from app.core.units import MIB
from app.core.weights import Weight, weights_of

TARGET_BYTES = 1024 * MIB  # --fit-target's default (common/arg.cpp, build 11434)
CACHE_TYPES = ("f16", "q8_0", "q4_0")
THIS_FILE = "this file"  # for one that does not name its quantisation
QUANTISATIONS = (
    "F16", "Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q4_K_M", "Q4_K_S", "IQ4_XS", "Q4_0", "Q3_K_M",
    "Q2_K",
)  # fmt: skip
_POWERS = tuple(1 << n for n in range(11, 21))
_STEP = 256  # cells are whole multiples of this
# --n-cpu-moe: a local GPU also holds copies of one to two expert tensors (placement.md 10.3)
_EXPERT_COPIES = 2


class Verdict(Enum):
    """How much of a load fits."""

    WHOLE = "fits whole"
    LAYERS = "fits with some layers"
    HOST = "host only"
    NO = "does not fit"
    UNKNOWN = "not calculated"


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict for one context; bytes are at the top of the range."""

    ctx: int
    verdict: Verdict
    layers_total: int
    ngl: int = 0  # layers that fit on the devices, the output layer included
    n_cpu_moe: int | None = None  # or: all layers, with the experts of so many blocks on the host
    device_bytes: int = 0
    host_bytes: int = 0
    context_bytes: int = 0
    reason: str = ""  # why there is no verdict, or what could not be looked at
    kept: str = ""  # what is kept for the drivers, in words


@dataclass(frozen=True, slots=True)
class FitRow:
    """One quantisation with one cache type, over all contexts."""

    file_type: str
    is_file: bool  # the file as it is; the other rows are what-if
    cache_type: str
    weights_bytes: int
    cells: tuple[Cell, ...]
    largest_whole_ctx: int | None  # with every layer on the devices; None = there is none
    largest_ctx: int | None  # that loads at all, with the system memory's help


@dataclass(frozen=True, slots=True)
class FitWish:
    """What the table shall hold; contexts empty = contexts_for the model."""

    quantisations: tuple[str, ...] = QUANTISATIONS
    cache_types: tuple[str, ...] = CACHE_TYPES
    contexts: tuple[int, ...] = ()
    target_bytes: int = TARGET_BYTES
    build: int | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    """One row while it is computed."""

    shape: Shape
    sums: LayerSums
    context_sums: ContextSums
    devices: tuple[Device, ...]
    host: Host
    request: LoadRequest
    wish: FitWish
    kept: str

    @property
    def budgets(self) -> tuple[int, ...]:
        """Return what each device may hold; nothing where its free memory is not known."""
        target = self.wish.target_bytes
        return tuple(
            max(0, (device.free_bytes or 0) - margin_of(device, target)) for device in self.devices
        )

    @property
    def reason(self) -> str:
        """Say what could not be looked at."""
        unknown = [device.id for device in self.devices if device.free_bytes is None]
        if unknown:
            return f"The free memory of {', '.join(unknown)} is not known."
        if self.host.available_bytes is None:
            return "The free system memory is not known, so it was not looked at."
        return ""


def contexts_for(n_ctx_train: int) -> tuple[int, ...]:
    """Return at most eight contexts worth showing: powers of two, the training context last."""
    if n_ctx_train <= 0:
        return _POWERS[1:9]
    return (*[n for n in _POWERS if n < n_ctx_train][-7:], n_ctx_train)


def fit_rows(
    model: Model,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    wish: FitWish | None = None,
) -> Iterator[FitRow]:
    """Yield the table row by row: the file as it is first, then what-if quantisations.

    The request gives all that the table does not vary. UserError when it is no language model.
    """
    wish = wish or FitWish()
    request = as_of(request, wish.build)
    shape = shape_of(model)
    contexts = wish.contexts or contexts_for(shape.n_ctx_train)
    chosen = usable_devices(devices, request)
    found = weights_of(model, shape)
    output_first, drivers = is_output_first(wish.build), sentence(chosen)
    for name, is_file, kept in _quantisations(model, found, wish):
        sums = fit_sums.layer_sums(kept, shape, chosen, host, request, is_output_first=output_first)
        n_bytes = sum(weight.n_bytes for weight in kept if not weight.is_duplicate)
        for cache_type in wish.cache_types:
            asked = replace(request, cache_type_k=cache_type, cache_type_v=cache_type)
            empty = FitRow(name, is_file, cache_type, n_bytes, (), None, None)
            reason = _refusal(shape, asked)
            if reason:
                total = shape.layers_total
                cells = tuple(Cell(n, Verdict.UNKNOWN, total, reason=reason) for n in contexts)
                yield replace(empty, cells=cells)
                continue
            context = cache.context_of(shape, replace(asked, ctx=contexts[0]))
            context_sums = fit_sums.context_sums(
                shape, asked, context, is_output_first=output_first
            )
            row = _Row(shape, sums, context_sums, chosen, host, asked, wish, drivers)
            yield _filled(row, empty, contexts)


def _refusal(shape: Shape, request: LoadRequest) -> str:
    if shape.arch in UNDERIVED_CACHES:
        return f"The context memory of {shape.arch} models is not derived from the header."
    try:
        cache.check_types(shape, request)
    except UserError as error:
        return error.sentence()
    return ""


def _quantisations(
    model: Model, found: tuple[Weight, ...], wish: FitWish
) -> Iterator[tuple[str, bool, tuple[Weight, ...]]]:
    number = model.keys.get("general.file_type")
    own = quants.FILE_TYPES.get(number, "") if isinstance(number, int) else ""
    yield own or THIS_FILE, True, found
    try:
        sorted_model = requant.prepare(model)
    except UserError:
        return  # an architecture whose quantisations are not calculated: the file alone
    for name in wish.quantisations:
        if name != own:
            yield name, False, _retyped(found, sorted_model.types(name))


def _retyped(found: tuple[Weight, ...], types: Mapping[str, str]) -> tuple[Weight, ...]:
    made = []
    for weight in found:
        name = types[weight.name]
        if name != weight.type_name:
            values = 1
            for n in weight.shape:
                values *= n
            weight = replace(weight, type_name=name, n_bytes=quants.row_bytes(name, values))
        made.append(weight)
    return tuple(made)


def _filled(row: _Row, empty: FitRow, contexts: tuple[int, ...]) -> FitRow:
    cells = tuple(_cell(row, ctx) for ctx in contexts)
    return replace(
        empty,
        cells=cells,
        largest_whole_ctx=_largest(row, cells, (Verdict.WHOLE,)),
        largest_ctx=_largest(row, cells, (Verdict.WHOLE, Verdict.LAYERS, Verdict.HOST)),
    )


def _cell(row: _Row, ctx: int) -> Cell:
    load = _load(row, ctx)
    budgets = row.budgets
    need = load.most_layers(budgets)
    verdict = _verdict(row, need)
    n_cpu_moe = None
    if verdict is not Verdict.WHOLE and budgets:
        n_cpu_moe = load.experts_on_host(budgets[0], _EXPERT_COPIES)
    return Cell(
        ctx=ctx,
        verdict=verdict,
        layers_total=row.shape.layers_total,
        ngl=need.ngl,
        n_cpu_moe=n_cpu_moe,
        device_bytes=sum(need.devices),
        host_bytes=need.host,
        context_bytes=need.context,
        reason=row.reason,
        kept=row.kept,
    )


def _load(row: _Row, ctx: int) -> Load:
    return fit_sums.load_of(
        row.shape,
        row.sums,
        row.context_sums,
        row.request,
        row.devices,
        ctx=ctx,
        build=row.wish.build,
    )


def _verdict(row: _Row, need: Need) -> Verdict:
    available = row.host.available_bytes
    if available is not None and need.host > available:
        return Verdict.NO
    if need.ngl == row.shape.layers_total:
        return Verdict.WHOLE
    return Verdict.LAYERS if need.ngl else Verdict.HOST


def _largest(row: _Row, cells: tuple[Cell, ...], wanted: tuple[Verdict, ...]) -> int | None:
    """Return the largest context with a wanted verdict, in steps of 256 cells."""
    fitting = [cell.ctx for cell in cells if cell.verdict in wanted]
    failing = [cell.ctx for cell in cells if cell.verdict not in wanted]
    low = max(fitting, default=0)
    high = min((n for n in failing if n > low), default=None)
    if high is None:
        return low or None
    steps, end = low // _STEP, -(-high // _STEP)
    while end - steps > 1:
        middle = (steps + end) // 2
        if _verdict(row, _load(row, middle * _STEP).most_layers(row.budgets)) in wanted:
            steps = middle
        else:
            end = middle
    return max(low, steps * _STEP) or None
