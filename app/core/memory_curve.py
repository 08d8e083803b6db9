"""How memory grows with the context of a slot, for several numbers of slots, and where it ends."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.core.assign import usable_devices
from app.core.cancel import Cancel
from app.core.machine import Device, Host
from app.core.overhead import margin_of, sentence
from app.core.placement import Placement, Prepared, place
from app.core.request import LoadRequest

SLOTS = (1, 4, 16)
_SMALLEST = 1024
_STEP = 256  # cells are whole multiples of this
_WITHOUT_TRAINING = 131072


@dataclass(frozen=True, slots=True)
class Point:
    """One context per slot in tokens, and the bytes that the load takes at the top of its range."""

    ctx: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Line:
    """One number of slots; end = the largest context that fits, None = all shown do, 0 = none."""

    slots: int
    points: tuple[Point, ...]
    end: int | None


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """The lines over the same contexts; limit None = free memory is not known."""

    lines: tuple[Line, ...]
    limit_bytes: int | None  # what is free, less what the drivers keep for themselves
    is_host: bool  # no device: the system memory
    kept: str = ""  # what is kept for the drivers, in words


def memory_curve(
    prepared: Prepared,
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    *,
    build: int | None = None,
    cancel: Cancel | None = None,
) -> MemoryCurve:
    """Return the curve for a request; all else is as it asks.

    With several devices the sum is drawn, and the end is where the first of them is full.
    """
    load = _Load(prepared, devices, host, request, build)
    lines = []
    for slots in SLOTS:
        points = []
        for ctx in contexts(prepared.shape.n_ctx_train):
            if cancel is not None:
                cancel.check()
            points.append(Point(ctx, load.total(ctx, slots)))
        lines.append(Line(slots, tuple(points), load.end(slots, tuple(p.ctx for p in points))))
    return MemoryCurve(tuple(lines), load.limit, not load.chosen, sentence(load.chosen))


def contexts(n_ctx_train: int) -> tuple[int, ...]:
    """Return the contexts of the points: powers of two, the training context last."""
    last = n_ctx_train or _WITHOUT_TRAINING
    return tuple(dict.fromkeys((*_powers(last), last)))


def _powers(last: int) -> Iterator[int]:
    n = min(_SMALLEST, last)
    while n < last:
        yield n
        n *= 2


@dataclass(frozen=True, slots=True)
class _Load:
    prepared: Prepared
    devices: tuple[Device, ...]
    host: Host
    request: LoadRequest
    build: int | None

    @property
    def chosen(self) -> tuple[Device, ...]:
        return usable_devices(self.devices, self.request)

    @property
    def limit(self) -> int | None:
        if not self.chosen:
            return self.host.available_bytes
        room = [_room(device) for device in self.chosen]
        return sum(n for n in room if n is not None) if None not in room else None

    def placed(self, ctx: int, slots: int) -> Placement:
        # -np N gives each slot its own part of the context (placement.md 2.1)
        asked = replace(self.request, ctx=ctx * slots, parallel=slots)
        return place(self.prepared, self.devices, self.host, asked, build=self.build)

    def total(self, ctx: int, slots: int) -> int:
        return self.placed(ctx, slots).total(is_host=not self.chosen).high_bytes

    def fits(self, ctx: int, slots: int) -> bool:
        placed = self.placed(ctx, slots)
        if not self.chosen:
            available = self.host.available_bytes
            return available is None or placed.total(is_host=True).high_bytes <= available
        room = {device.id: _room(device) or 0 for device in self.chosen}
        return all(row.high_bytes <= room[row.buffer] for row in placed.rows if not row.is_host)

    def end(self, slots: int, shown: tuple[int, ...]) -> int | None:
        """Return the largest context per slot that fits, in steps of 256."""
        if self.limit is None or self.fits(shown[-1], slots):
            return None
        low, high = 0, -(-shown[-1] // _STEP)
        while high - low > 1:
            middle = (low + high) // 2
            if self.fits(middle * _STEP, slots):
                low = middle
            else:
                high = middle
        return low * _STEP


def _room(device: Device) -> int | None:
    """Return what a load may fill, None when it is not known."""
    if device.free_bytes is None:
        return None
    return max(0, device.free_bytes - margin_of(device, 0))
