"""A load as it is or would be with changes, and how much faster one writes than another.

A gain is a ratio of times per token: bytes read on the device, and r times as long for those on
the host (slowdown.md section 1); each placement is planned anew, nothing is multiplied. Where both
placements were measured here, the measured times count. Where no figure may be promised there is
none.
"""

from dataclasses import dataclass, replace

from app.core import builds, host_memory, placement, slowdown
from app.core import fit as fitting
from app.core.assign import usable_devices
from app.core.bench import Test
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.expectation import known
from app.core.forecast import Forecast, happened
from app.core.machine import Device, Host
from app.core.model import Model
from app.core.placement import Placement, Prepared
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest
from app.core.spots import Spot, spots_of

LEAST = 1.03  # a smaller gain is below what a benchmark can see
# the same machine read other quantisations up to 1.3 times slower or faster (slowdown.md section 5)
KERNELS = 1.3
NO_R = "r is not known: measure both ends first"
TOO_LITTLE = "it would bring less than can be measured"
_END = 0.001
_SAME_PLACE = 1e-4


@dataclass(frozen=True, slots=True)
class Trial:
    """One load: what it is asked, where its bytes are, and what times are calculated with."""

    evidence: Evidence
    model: Model
    prepared: Prepared
    devices: tuple[Device, ...]
    host: Host
    request: LoadRequest
    placed: Placement
    r: Estimate | None
    no_figure: str  # why no figure may be promised where layers are on both sides
    spots: tuple[Spot, ...]  # rates that were measured here, of this model and these settings

    @property
    def build(self) -> int | None:
        """Return llama.cpp's build, None = not known."""
        return builds.of_evidence(self.evidence)

    @property
    def layers_total(self) -> int:
        """Return blocks and output layer, as n_gpu_layers counts."""
        return self.placed.layers_total

    @property
    def layers(self) -> int:
        """Return how many layers are on a device with all that a device can hold of them."""
        return sum(layer.device is not None for layer in self.placed.layers)

    @property
    def weights_bytes(self) -> int:
        """Return the bytes of all weights."""
        return sum(weight.n_bytes for weight in self.prepared.weights)

    @property
    def n_experts(self) -> int:
        """Return how many experts the model has, 0 = it is dense."""
        return self.model.whole("expert_count") or 0

    @property
    def is_whole(self) -> bool:
        """Tell whether nothing but what never leaves it is read from the host."""
        return self.placed.f < _END

    def as_asked(self, request: LoadRequest) -> "Trial | None":
        """Return the load with exactly these options, None when it cannot be calculated."""
        try:
            placed = placement.place(
                self.prepared, self.devices, self.host, request, build=self.build
            )
        except UserError:
            return None
        return replace(self, request=request, placed=placed)

    def fitted(self, request: LoadRequest) -> "Trial | None":
        """Return what llama.cpp's fit makes of these options; its request stays as it was asked."""
        if any(d.free_bytes is None for d in usable_devices(self.devices, request)):
            return None
        try:
            result = fitting.fit(self.prepared, self.devices, self.host, request, self.build)
        except UserError:
            return None
        if result.refused or result.not_calculated:
            return None
        placed = self.as_asked(result.request)
        return replace(placed, request=request) if placed is not None else None

    def with_model(self, model: Model) -> "Trial | None":
        """Return the same options with another file; its placement is still the former one's."""
        try:
            return replace(self, model=model, prepared=placement.prepare(model), spots=())
        except UserError:
            return None


def trial_of(evidence: Evidence, found: Forecast) -> Trial | None:
    """Return the load that was seen, None when its placement is not known."""
    if evidence.model is None or found.placement is None:
        return None
    devices = evidence.machine.devices if evidence.machine else ()
    no_figure = ""
    if found.r is not None:
        no_figure = slowdown.refusal(0.5, found.r, devices)
    run = next((run for run in reversed(evidence.runs) if run.test is Test.GENERATION), None)
    spots = (*known(evidence, run), *spots_of(evidence, (run,))) if run and not run.busy else ()
    return Trial(
        evidence, evidence.model, placement.prepare(evidence.model), devices,
        host_memory.host_of(evidence.machine), happened(evidence), found.placement, found.r,
        no_figure, spots,
    )  # fmt: skip


def gain(before: Trial, after: Trial, kernels: float = 1.0) -> tuple[Estimate | None, str]:
    """Return how many times faster it gets with its range, or why there is no figure."""
    measured = _measured(before, after)
    if measured is not None:
        return (measured, "") if measured.value >= LEAST else (None, TOO_LITTLE)
    shares = _share(before.placed), _share(after.placed)
    bytes_ratio = before.placed.reads.total_bytes / max(1, after.placed.reads.total_bytes)
    source = "bytes per token before over after"
    if max(shares) < _END:
        value, ends = bytes_ratio, [bytes_ratio]
    else:
        r = before.r
        if r is None:
            return None, NO_R
        if before.no_figure and any(_END < share < 1 - _END for share in shares):
            return None, before.no_figure
        value, *ends = (
            bytes_ratio * slowdown.law(shares[0], ratio) / slowdown.law(shares[1], ratio)
            for ratio in (r.value, r.low, r.high)
        )
        below, above = slowdown.error_of(before.placed.reads.total_bytes)
        ends = [min(value, *ends) * (1 - below), max(value, *ends) * (1 + above)]
        source += f", (1 − s) + s × r each, r {r.source}"
    if value < LEAST:
        return None, TOO_LITTLE
    return (
        Estimate(value, min(ends) / kernels, max(ends) * kernels, source, Kind.CALCULATED),
        "",
    )


def _measured(before: Trial, after: Trial) -> Estimate | None:
    """Return the ratio of two measured times, None unless both placements were measured."""
    if before.prepared is not after.prepared or not _is_alike(before.request, after.request):
        return None
    first, last = _spot(before), _spot(after)
    if first is None or last is None or first is last:
        return None
    return Estimate(
        first.time.value / last.time.value,
        first.time.low / last.time.high,
        first.time.high / last.time.low,
        f"measured here with {_named(first)} and with {_named(last)}",
        Kind.MEASURED,
    )


def _spot(trial: Trial) -> Spot | None:
    """Return the latest rate that was measured with the placement of a load."""
    share = slowdown.predicted_share(trial.placed.f, trial.placed.f_layers)
    return next(
        (spot for spot in reversed(trial.spots) if abs(spot.share - share) < _SAME_PLACE), None
    )


def _named(spot: Spot) -> str:
    return f"{spot.ngl} of {spot.layers_total} layers on the device"


def _is_alike(one: LoadRequest, other: LoadRequest) -> bool:
    """Tell whether two loads differ in nothing that a rate depends on but the placement."""
    names = ("cache_type_k", "cache_type_v", "flash_attn", "threads", "kv_offload", "device_ids")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _share(placed: Placement) -> float:
    if placed.f < _END or placed.f > 1 - _END:
        return round(placed.f)
    return slowdown.predicted_share(placed.f, placed.f_layers)
