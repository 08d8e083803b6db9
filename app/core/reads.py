"""Bytes read per generated token, and the host's share of them (placement.md section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core import cache
from app.core.cache import Cache, Context
from app.core.request import LoadRequest
from app.core.shape import Shape
from app.core.stow import Stowed
from app.core.weights import Place

_SMALLEST_READ = 256  # get_n_kv reads at least this many cells
_STATE_BYTES = 4


@dataclass(frozen=True, slots=True)
class Reads:
    """Bytes read per generated token: in all, from system memory, and from each device."""

    total_bytes: int
    host_bytes: int
    device_bytes: tuple[int, ...]


def weight_reads(stowed: Sequence[Stowed], shape: Shape, n_devices: int) -> Reads:
    """Count the weights: blocks and output once, experts by their used share, one embedding row."""
    host = 0
    devices = [0] * n_devices
    for entry in stowed:
        weight = entry.weight
        n_bytes = weight.n_bytes
        if weight.place is Place.INPUT:
            n_bytes = n_bytes // weight.shape[-1]
        elif weight.is_expert and shape.n_expert:
            n_bytes = n_bytes * shape.n_expert_used // shape.n_expert
        if entry.device is None:
            host += n_bytes
        else:
            devices[entry.device] += n_bytes
    return Reads(host + sum(devices), host, tuple(devices))


def context_reads(
    shape: Shape,
    caches: Sequence[Cache],
    context: Context,
    homes: Sequence[int | None],
    request: LoadRequest,
    *,
    fill: int,
    n_devices: int,
) -> Reads:
    """Count cache cells and recurrent state; fill is how many tokens the context holds."""
    cells = max(_SMALLEST_READ, cache.pad(fill + 1))
    window = {one.is_swa: min(one.cells, cells) for one in caches}
    host = 0
    devices = [0] * n_devices
    owner: dict[bool, int | None] = {}
    for i, layer in enumerate(shape.layers):
        if layer.owns_cache:
            owner[layer.is_swa] = homes[i]
        # a layer that shares a cache reads it where its owner keeps it
        home = homes[i] if layer.owns_cache else owner.get(layer.is_swa, homes[i])
        # a recurrent layer reads and writes its whole state once
        n_bytes = 2 * _STATE_BYTES * (layer.r_values + layer.s_values)
        if layer.k_values and layer.is_swa in window:
            one_cell = cache.cell_bytes(shape, i, request, context.flash_attn)
            n_bytes += one_cell * window[layer.is_swa]
        if home is None or not request.kv_offload:
            host += n_bytes
        else:
            devices[home] += n_bytes
    return Reads(host + sum(devices), host, tuple(devices))


def add(first: Reads, second: Reads) -> Reads:
    """Add two counts over the same devices."""
    return Reads(
        first.total_bytes + second.total_bytes,
        first.host_bytes + second.host_bytes,
        tuple(a + b for a, b in zip(first.device_bytes, second.device_bytes, strict=True)),
    )
