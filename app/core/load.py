"""A load whose layers, weights and caches have their places, before its compute buffers."""

from dataclasses import dataclass

from app.core.cache import Cache, Context
from app.core.machine import Device
from app.core.request import LoadRequest
from app.core.shape import Shape
from app.core.stow import Stowed


@dataclass(frozen=True, slots=True)
class Placed:
    """What compute buffers follow from."""

    shape: Shape
    request: LoadRequest
    devices: tuple[Device, ...]
    homes: tuple[int | None, ...]  # per layer, the output's last; None = the host
    context: Context
    caches: tuple[Cache, ...]
    stowed: tuple[Stowed, ...]
    context_bytes: tuple[int, ...]  # per block
