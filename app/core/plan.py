"""A plan: one model, one request, and everything that follows from them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.core import fit as fitting
from app.core import placement, slowdown
from app.core.assign import usable_devices
from app.core.bench import BenchRun
from app.core.beside import Beside, Companion, beside
from app.core.fit_result import FitResult
from app.core.machine import Device, Host, Machine
from app.core.model import Model
from app.core.overhead import margin_of
from app.core.pace import Basis, Pace, basis_of, pace_of
from app.core.placement import Placement, Prepared
from app.core.reading import Estimate
from app.core.request import LoadRequest, Tool, targets_mib
from app.core.slowdown import NO_DEVICE, Prediction
from app.core.units import MIB

F_SOURCE = "host bytes over all bytes read per generated token, from the tensor sizes of the header"


@dataclass(frozen=True, slots=True)
class Situation:
    """What a plan is made for; build None = llama.cpp's build is not known."""

    devices: tuple[Device, ...]
    host: Host
    request: LoadRequest
    r: Estimate | None = None
    build: int | None = None
    fill: int = 0  # tokens in the context for which f holds
    notes: tuple[str, ...] = ()  # what else was not calculated, in words
    machine: Machine | None = None  # for rates: whose bandwidths are known; None = described
    runs: tuple[BenchRun, ...] = ()  # for rates: what was measured of this model, oldest first
    companions: tuple[Companion, ...] = ()  # files that are loaded beside the model


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer."""

    model: Model
    situation: Situation
    devices: tuple[Device, ...]  # those the load uses
    placement: Placement
    prediction: Prediction
    fit: FitResult
    pace: Pace
    beside: tuple[Beside, ...] = ()

    @property
    def not_calculated(self) -> tuple[str, ...]:
        """Return everything that is not in the figures, in words."""
        problems = tuple(problem.text for problem in self.model.problems)
        return (*problems, *self.placement.not_calculated, *self.situation.notes)


@dataclass(frozen=True, slots=True)
class TableLine:
    """One number of layers; bytes with the expected compute buffer."""

    ngl: int
    device_bytes: int
    host_bytes: int
    f: float
    prediction: Prediction
    pace: Pace
    fits: bool | None  # leaves the fit target free on each device; None = free is not known


def plan_of(model: Model, prepared: Prepared, situation: Situation) -> Plan:
    """Plan a load of a prepared model; UserError for a request it cannot take."""
    request = situation.request
    devices, host = situation.devices, situation.host
    placed = _place(prepared, situation)
    return Plan(
        model=model,
        situation=situation,
        devices=usable_devices(devices, request),
        placement=placed,
        prediction=predict(placed, situation),
        fit=fitting.fit(
            prepared, devices, host, request, situation.build, companions=situation.companions
        ),
        pace=pace_of(_basis(model, situation), placed),
        beside=beside_of(placed, situation),
    )


def beside_of(placed: Placement, situation: Situation) -> tuple[Beside, ...]:
    """Return what the files beside the model take."""
    return beside(
        situation.companions,
        placed,
        situation.devices,
        situation.host,
        situation.request,
        build=situation.build,
    )


def table_of(model: Model, prepared: Prepared, situation: Situation) -> Iterator[TableLine]:
    """Yield a line for each number of layers, from none to all."""
    basis = _basis(model, situation)
    for ngl in range(prepared.shape.layers_total + 1):
        tried = replace(situation, request=replace(situation.request, ngl=ngl))
        placed = _place(prepared, tried)
        yield TableLine(
            ngl=ngl,
            device_bytes=placed.total(is_host=False).total_bytes,
            host_bytes=placed.total(is_host=True).total_bytes,
            f=placed.f,
            prediction=predict(placed, tried),
            pace=pace_of(basis, placed),
            fits=fits(placed, tried),
        )


def fits(placed: Placement, situation: Situation) -> bool | None:
    """Tell whether each device keeps the fit target free, at the top of the range.

    Where the driver takes more than the target, that much must stay free.
    """
    chosen = usable_devices(situation.devices, situation.request)
    margins = targets_mib(situation.request, len(chosen))
    target = {
        device.id: margin_of(device, mib * MIB)
        for device, mib in zip(chosen, margins, strict=False)
    }
    free = {device.id: device.free_bytes for device in situation.devices}
    rows = [row for row in placed.rows if not row.is_host]
    if any(free[row.buffer] is None for row in rows):
        return None
    others = beside_of(placed, situation)
    return all(
        row.high_bytes + sum(one.high_bytes(row.buffer) for one in others)
        <= (free[row.buffer] or 0) - target.get(row.buffer, 0)
        for row in rows
    )


def predict(placed: Placement, situation: Situation) -> Prediction:
    """Predict the slowdown of a placement."""
    devices = usable_devices(situation.devices, situation.request)
    if not devices:
        return Prediction(None, NO_DEVICE)
    return slowdown.predict(
        placed.f,
        placed.f_layers,
        situation.r,
        read_bytes=placed.reads.total_bytes,
        devices=devices,
    )


def _basis(model: Model, situation: Situation) -> Basis:
    return basis_of(
        model,
        situation.machine,
        runs=situation.runs,
        devices=situation.devices,
        host=situation.host,
        request=situation.request,
        r=situation.r,
        fill=situation.fill,
    )


def _place(prepared: Prepared, situation: Situation) -> Placement:
    request = situation.request
    return placement.place(
        prepared,
        situation.devices,
        situation.host,
        request,
        fill=situation.fill,
        dry_pass=request.tool is Tool.FIT_PARAMS,
        build=situation.build,
    )
