"""The best position of a load under a margin: most layers, then fewest experts on the host.

Slider positions only: what is typed in for context, cache and split stays as it is. llama.cpp's
own --fit (core.fit) may also shorten the context and move parts of blocks.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.core import placement, slowdown, units
from app.core.assign import usable_devices
from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.machine import Device
from app.core.placement import Placement, Prepared
from app.core.plan import Situation, fits

_MIDDLE = 0.5


@dataclass(frozen=True, slots=True)
class Best:
    """The position, or None with the reason why none is offered."""

    ngl: int | None
    n_cpu_moe: int = 0
    why: str = ""


def best_position(prepared: Prepared, situation: Situation, cancel: Cancel) -> Best:
    """Return what keeps the margins free on each device, at the top of the compute range."""
    try:
        devices = usable_devices(situation.devices, situation.request)
    except UserError as error:
        return Best(None, why=error.sentence())
    if not devices:
        return Best(None, why="There is no device to put layers on.")
    if any(device.free_bytes is None for device in devices):
        return Best(None, why="The free memory of a device is not known.")
    if situation.r is not None and situation.r.high < 1:
        return Best(0, why="The device is the slower end here.")
    search = _Search(prepared, situation, cancel)
    found = _found(search, devices)
    return replace(found, why=f"{found.why}{search.overfull(found)}")


def _found(search: "_Search", devices: tuple[Device, ...]) -> Best:
    prepared, situation = search.prepared, search.situation
    top = prepared.shape.layers_total
    if search.has_room(top, 0):
        return Best(top, why="Everything fits, with the margin.")
    told = slowdown.refusal(_MIDDLE, situation.r, devices)
    if told:  # "as many layers as fit" would be bad advice (slowdown.md section 4)
        return Best(None, why=told)
    if prepared.shape.n_expert:
        n_blocks = prepared.shape.n_layer
        if search.has_room(top, n_blocks):
            n = _least(lambda n: search.has_room(top, n), n_blocks)
            return Best(top, n, "One block fewer would leave less than the margin.")
        layers = top - _least(lambda n: search.has_room(top - n, n_blocks), top)
        return Best(layers, n_blocks, "Even without the experts not all layers fit.")
    layers = top - _least(lambda n: search.has_room(top - n, 0), top)
    if layers == 0 and not search.has_room(0, 0):
        return Best(None, why="Not even the compute buffer has room on the device.")
    return Best(layers, why=f"One layer more would leave less than the margin ({layers + 1}).")


@dataclass(frozen=True, slots=True)
class _Search:
    """Tries positions of one load."""

    prepared: Prepared
    situation: Situation
    cancel: Cancel

    def has_room(self, ngl: int, n_cpu_moe: int) -> bool:
        """Tell whether a position keeps the margins."""
        self.cancel.check()
        request = replace(self.situation.request, ngl=ngl, n_cpu_moe=n_cpu_moe, cpu_moe=False)
        tried = replace(self.situation, request=request)
        return fits(self._placed(tried), tried) is True

    def overfull(self, found: Best) -> str:
        """Say that the rest has no room in system memory, "" when it has, or it is not known."""
        total = self.situation.host.total_bytes
        if found.ngl is None or total is None:
            return ""
        request = replace(self.situation.request, ngl=found.ngl, n_cpu_moe=found.n_cpu_moe)
        needed = self._placed(replace(self.situation, request=request)).total(is_host=True)
        if needed.total_bytes <= total:
            return ""
        return (
            f" But system memory would have to hold {units.size(needed.total_bytes)}, and has "
            f"{units.size(total)}: the rest would be read from the drive for each token."
        )

    def _placed(self, tried: Situation) -> Placement:
        return placement.place(
            self.prepared, tried.devices, tried.host, tried.request,
            fill=tried.fill, build=tried.build,
        )  # fmt: skip


def _least(is_enough: Callable[[int], bool], most: int) -> int:
    """Return the smallest number that is enough; most is returned when none below it is."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle + 1
    return low
