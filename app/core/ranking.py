"""Which changes would help this load, by how much, and what they cost; biggest gain first.

A gain is a ratio of calculated times: bytes read per token on the device, and r times as long for
those on the host (slowdown.md section 1). Where a figure may not be promised there is none.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.core import fit as fitting
from app.core import host_memory, placement, requant, slowdown, units
from app.core.assign import usable_devices
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.fit_table import QUANTISATIONS
from app.core.forecast import Forecast, happened
from app.core.machine import Host
from app.core.placement import Placement, Prepared
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest
from app.core.rule import Change

_SHORTEST = 2048  # shorter contexts are no help in a chat
_F16 = "f16"
# the same machine read other quantisations up to 1.3 times slower or faster (slowdown.md section 5)
_KERNELS = 1.3
_LEAST = 1.03  # a smaller gain is below what a benchmark can see
_NO_R = "r is not known: measure both ends first"
_QUALITY = "Quality: fewer bits per weight. A new download of the same model."


@dataclass(frozen=True, slots=True)
class Option:
    """One change; gain is how many times faster writing gets, None: reason says why no figure."""

    id: str
    title: str
    text: str
    cost: str
    gain: Estimate | None
    reason: str = ""
    change: Change = ()
    command: str = ""  # in the words of the user's runtime, filled in by the judge's side


@dataclass(frozen=True, slots=True)
class _Load:
    """The load as it is, and what it is compared by."""

    evidence: Evidence
    prepared: Prepared
    host: Host
    request: LoadRequest
    placed: Placement
    r: Estimate | None
    no_figure: str  # why no figure may be promised where layers are on both sides


@dataclass(frozen=True, slots=True)
class _Words:
    """What is said of a change."""

    id: str
    title: str
    text: str
    cost: str


def options(evidence: Evidence, found: Forecast) -> tuple[Option, ...]:
    """Return what applies to this model, machine and setting; () when the placement is unknown."""
    load = _load(evidence, found)
    if load is None:
        return ()
    listed = [*_placement_options(load), *_threads(load)]
    # what has a figure first; the rest keeps the order of what costs least (advice.md part 3)
    listed.sort(key=lambda option: -option.gain.value if option.gain is not None else 0.0)
    return tuple(listed)


def _load(evidence: Evidence, found: Forecast) -> _Load | None:
    if evidence.model is None or found.placement is None:
        return None
    devices = evidence.machine.devices if evidence.machine else ()
    no_figure = ""
    if found.r is not None:
        middle = slowdown.predict(0.5, 0.5, found.r, read_bytes=1, devices=devices)
        no_figure = middle.reason
    return _Load(
        evidence,
        placement.prepare(evidence.model),
        host_memory.host_of(evidence.machine),
        happened(evidence),
        found.placement,
        found.r,
        no_figure,
    )


def _placement_options(load: _Load) -> Iterator[Option]:
    whole = load.placed.layers_total
    devices = load.evidence.machine.devices if load.evidence.machine else ()
    if not devices:
        return
    if load.r is not None and load.r.high < 1:
        yield from _host_only(load)
        return
    if load.placed.f < 0.001:
        yield from _smaller(load, load.request)
        return
    asked = replace(load.request, ngl=None, use_devices=True)
    fitted = _fitted(load, asked)
    if fitted is not None and fitted[1].f < load.placed.f - 0.001:
        layers = _layers(fitted[1])
        text = "Leave the number of layers out: the program places what fits."
        if layers < whole:
            text += f" That is {layers} of {whole}."
        change: Change = (("ngl", None), ("use_devices", True))
        words = _Words(
            "more-layers",
            "More layers on the device",
            text,
            "Device memory; the automatic fit leaves some free.",
        )
        yield _option(load, words, fitted[1], change)
    lacks_room = fitted is None or _layers(fitted[1]) < whole
    if lacks_room:
        yield from _room(load, asked)
    # one change at a time: a smaller file gets other layers only where room is what lacks
    yield from _smaller(load, asked if lacks_room else load.request)


def _host_only(load: _Load) -> Iterator[Option]:
    """Offer the processor alone where the device is the slower end."""
    if load.placed.f > 0.999 or load.r is None:
        return
    placed = _placed(load, replace(load.request, ngl=0))
    if placed is not None:
        words = _Words(
            "host-only",
            "Everything on the processor",
            "The device is the slower end here: layers on it slow this computer.",
            "The processor is busy while it writes.",
        )
        yield _option(load, words, placed, (("ngl", 0),))


def _room(load: _Load, asked: LoadRequest) -> Iterator[Option]:
    """Yield what makes room for all layers: a shorter context, then a smaller cache."""
    n_ctx = load.placed.context.n_ctx
    shorter = next(
        (
            (ctx, fitted)
            for ctx in _halves(n_ctx)
            if (fitted := _fitted(load, replace(asked, ctx=ctx))) is not None
            and _layers(fitted[1]) == load.placed.layers_total
        ),
        None,
    )
    if shorter is not None:
        ctx, fitted = shorter
        words = _Words(
            "shorter-context",
            f"Context of {units.count(ctx)} tokens",
            f"With {units.count(ctx)} instead of {units.count(n_ctx)} tokens all layers fit on "
            "the device.",
            "Context: longer chats and documents are cut.",
        )
        yield _option(load, words, fitted[1], (("ctx", ctx), ("ngl", None)))
    if asked.cache_type_k == _F16 and asked.cache_type_v == _F16:
        types = replace(asked, cache_type_k="q8_0", cache_type_v="q8_0")
        fitted_types = _fitted(load, types)
        if fitted_types is not None and fitted_types[1].f < load.placed.f - 0.001:
            change: Change = (("cache_type_k", "q8_0"), ("cache_type_v", "q8_0"), ("ngl", None))
            words = _Words(
                "smaller-cache",
                "KV cache as q8_0",
                "The cache takes 53 % of f16, and more layers fit.",
                "Quality: small. It needs flash attention.",
            )
            yield _option(load, words, fitted_types[1], change)


def _smaller(load: _Load, asked: LoadRequest) -> Iterator[Option]:
    """Yield the next smaller quantisation of the same model."""
    assert load.evidence.model is not None
    now = load.placed.reads.total_bytes
    for file_type in QUANTISATIONS:
        if file_type in ("Q3_K_M", "Q2_K"):
            return  # below 4 bits the harm grows fast (advice.md claim 63)
        try:
            model = requant.requantised(load.evidence.model, file_type)
            smaller = replace(load, prepared=placement.prepare(model))
        except UserError:
            return
        if smaller.prepared.weights and _weights(smaller.prepared) < 0.9 * _weights(load.prepared):
            fitted = _fitted(smaller, asked) if asked is not load.request else None
            placed = fitted[1] if fitted is not None else _placed(smaller, load.request)
            if placed is not None and placed.reads.total_bytes < now:
                words = _Words(
                    "smaller-quantisation",
                    f"The same model as {file_type}",
                    f"It has {units.size(_weights(smaller.prepared))} of weights instead of "
                    f"{units.size(_weights(load.prepared))}.",
                    _QUALITY,
                )
                yield _option(load, words, placed, (), _KERNELS)
            return


def _threads(load: _Load) -> Iterator[Option]:
    """Offer the program's own number of threads where more than the cores were set."""
    machine = load.evidence.machine
    cores = machine.number("cpu.physical") if machine is not None else None
    threads = load.request.threads
    if load.placed.f < 0.01 or cores is None or threads is None or threads <= cores:
        return
    yield Option(
        "fewer-threads", "As many threads as cores",
        f"{threads} threads are set for {cores} cores; they wait for each other.",
        "None.", None, "what it brings differs by machine: try it", (("threads", None),),
    )  # fmt: skip


def _option(
    load: _Load, words: _Words, placed: Placement, change: Change, kernels: float = 1.0
) -> Option:
    gain, reason = _gain(load, placed, kernels)
    return Option(words.id, words.title, words.text, words.cost, gain, reason, change)


def _gain(load: _Load, placed: Placement, kernels: float) -> tuple[Estimate | None, str]:
    """Return how many times faster it gets with its range, or why there is no figure."""
    before, after = _share(load.placed), _share(placed)
    bytes_ratio = load.placed.reads.total_bytes / max(1, placed.reads.total_bytes)
    if before < 0.001 and after < 0.001:
        value, ends = bytes_ratio, [bytes_ratio]
    else:
        if load.r is None:
            return None, _NO_R
        if load.no_figure and any(0.001 < share < 0.999 for share in (before, after)):
            return None, load.no_figure
        ratios = (load.r.low, load.r.high)
        value = bytes_ratio * _times(before, load.r.value) / _times(after, load.r.value)
        ends = [bytes_ratio * _times(before, r) / _times(after, r) for r in ratios]
        below, above = slowdown.error_of(load.placed.reads.total_bytes)
        ends = [min(ends) * (1 - above), max(ends) * (1 + below)]
    low, high = min(ends) / kernels, max(ends) * kernels
    if value < _LEAST:
        return None, "it would bring less than can be measured"
    source = "bytes per token before over after"
    if load.r is not None and before >= 0.001:
        source += f", (1 − f) + f × r each, r {load.r.source}"
    return Estimate(value, low, high, source, Kind.CALCULATED), ""


def _times(share: float, r: float) -> float:
    return slowdown.law(share, r)


def _share(placed: Placement) -> float:
    if placed.f < 0.001 or placed.f > 0.999:
        return round(placed.f)
    return slowdown.predicted_share(placed.f, placed.f_layers)


def _fitted(load: _Load, request: LoadRequest) -> tuple[LoadRequest, Placement] | None:
    """Return what llama.cpp's fit would load, None when it refuses or cannot be calculated."""
    devices = load.evidence.machine.devices if load.evidence.machine else ()
    if any(device.free_bytes is None for device in usable_devices(devices, request)):
        return None
    try:
        result = fitting.fit(load.prepared, devices, load.host, request)
    except UserError:
        return None
    if result.refused or result.not_calculated:
        return None
    placed = _placed(load, result.request)
    return (result.request, placed) if placed is not None else None


def _placed(load: _Load, request: LoadRequest) -> Placement | None:
    devices = load.evidence.machine.devices if load.evidence.machine else ()
    try:
        return placement.place(load.prepared, devices, load.host, request)
    except UserError:
        return None


def _layers(placed: Placement) -> int:
    """Return how many layers are on a device with all that a device can hold of them."""
    return sum(layer.device is not None for layer in placed.layers)


def _weights(prepared: Prepared) -> int:
    return sum(weight.n_bytes for weight in prepared.weights)


def _halves(n_ctx: int) -> Iterator[int]:
    ctx = n_ctx // 2
    while ctx >= _SHORTEST:
        yield ctx
        ctx //= 2
