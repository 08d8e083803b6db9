"""Weights into buffers: overrides first, then each layer's device, then the host's buffers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.core import weights
from app.core.errors import UserError
from app.core.machine import Device
from app.core.request import LoadRequest
from app.core.shape import OUTPUT_FIRST, Shape
from app.core.weights import HostBuffers, Place, Weight

_ONE_BLOCK = re.compile(r"blk\\\.(\d+)\\\.(?![?*{])")
_GROUP = re.compile(r"\([^()]*\)")
_EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"


@dataclass(frozen=True, slots=True)
class Stowed:
    """A weight in its buffer; device None = system memory, n_bytes 0 = an existing copy is used."""

    weight: Weight
    buffer: str
    device: int | None
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where weights may go: the layers' homes, the devices, and the host's buffers."""

    shape: Shape
    devices: tuple[Device, ...]
    homes: tuple[int | None, ...]
    host: HostBuffers


def stow(found: Sequence[Weight], shelf: Shelf, request: LoadRequest) -> tuple[Stowed, ...]:
    """Put each weight into a buffer, as create_tensor in src/llama-model-loader.cpp does."""
    overrides = _overrides(request, shelf.shape.n_layer_all)
    by_id = {device.id: i for i, device in enumerate(shelf.devices)}
    stowed: list[Stowed] = []
    embedding_buffer = ""
    for weight in found:
        if weight.is_rope:
            stowed += _rope(weight, shelf)
            continue
        home = _home(weight, shelf.homes)
        forced = overrides.buffer_of(weight)
        if forced is not None:
            home = by_id.get(forced)
        entry = _one(weight, home, shelf)
        if weight.name == "token_embd.weight" and not weight.is_duplicate:
            embedding_buffer = entry.buffer
        is_reused = weight.is_duplicate and entry.buffer == embedding_buffer
        if is_reused and shelf.shape.arch not in OUTPUT_FIRST:
            entry = Stowed(weight, entry.buffer, entry.device, 0)
        stowed.append(entry)
    return tuple(stowed)


def mapped_bytes(stowed: Sequence[Stowed]) -> int:
    """Return the range CPU_Mapped covers: per file, first to last tensor, holes included."""
    spans: dict[int, tuple[int, int]] = {}
    for entry in stowed:
        weight = entry.weight
        if entry.buffer != weights.CPU_MAPPED:
            continue
        first, last = spans.get(weight.part, (weight.offset, 0))
        spans[weight.part] = (
            min(first, weight.offset),
            max(last, weight.offset + weight.n_bytes),
        )
    return sum(last - first for first, last in spans.values())


def _home(weight: Weight, homes: tuple[int | None, ...]) -> int | None:
    if weight.place is Place.INPUT:
        return None
    return homes[-1] if weight.place is Place.OUTPUT else homes[weight.block]


def _one(weight: Weight, home: int | None, shelf: Shelf) -> Stowed:
    used = max(shelf.shape.n_expert_used, 1)
    if home is not None and weights.fits_device(weight, shelf.devices[home], used):
        device = shelf.devices[home]
        return Stowed(weight, device.id, home, weights.bytes_in(weight, device.id, device.kind))
    buffer = weights.buffer_on_host(weight, shelf.host, used)
    return Stowed(weight, buffer, None, weights.bytes_in(weight, buffer, None))


def _rope(weight: Weight, shelf: Shelf) -> list[Stowed]:
    """Place rope factors: one copy per buffer that holds a block using them."""
    shape = shelf.shape
    users = {
        shelf.homes[i]
        for i in range(shape.n_layer)
        # in Gemma 4 only full-attention blocks use them
        if not (shape.arch == "gemma4" and shape.layers[i].is_swa)
    }
    return [
        _one(weight, home, shelf)
        for home in sorted(users, key=lambda home: -1 if home is None else home)
    ]


class _Overrides:
    """The name overrides in llama.cpp's order; the first match wins."""

    def __init__(self, patterns: Sequence[tuple[str, str]]) -> None:
        self._all = [(_block_of(pattern), re.compile(pattern), to) for pattern, to in patterns]
        self._by_block: dict[int, list[tuple[re.Pattern[str], str]]] = {}

    def buffer_of(self, weight: Weight) -> str | None:
        """Return the buffer that an override names for a weight."""
        if not self._all:
            return None
        block = weight.block if weight.name.startswith("blk.") else -1
        if block not in self._by_block:
            self._by_block[block] = [
                (rx, to) for of, rx, to in self._all if of is None or of == block
            ]
        return next((to for rx, to in self._by_block[block] if rx.search(weight.name)), None)


def _overrides(request: LoadRequest, n_blocks: int) -> _Overrides:
    found = list(request.overrides)
    if request.cpu_moe:
        found.append((_EXPERTS, weights.CPU))
    found += [
        (rf"blk\.{i}{_EXPERTS}", weights.CPU) for i in range(min(request.n_cpu_moe, n_blocks))
    ]
    found += [
        (rf"blk\.{i}\.ffn_(up|down|gate)\.", weights.CPU)
        for i in range(min(request.n_cpu_ffn, n_blocks))
    ]
    try:
        return _Overrides(found)
    except re.error as error:
        raise UserError(
            "The tensor override is not a valid pattern",
            f"{error.pattern!r}: {error.msg}.",
            "Write it as REGEX=BUFFER, for example ffn_down=CPU.",
        ) from error


def _block_of(pattern: str) -> int | None:
    """Return the only block a pattern can match, None when there may be others.

    With one pattern per block, trying each on each tensor would take 50 ms for 94 blocks.
    """
    start = _ONE_BLOCK.match(pattern)
    has_choice = "|" in _GROUP.sub("", pattern) or r"\(" in pattern
    return int(start[1]) if start and not has_choice else None
