"""What the law of slowdown says about a load: f of the placement that happened, and r if known."""

from dataclasses import dataclass, replace

from app.core import assign, builds, host_memory, placement, slowdown
from app.core.bandwidth import table_r
from app.core.bench import BenchRun, Test
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.fit_experts import with_experts
from app.core.machine import Device
from app.core.placement import Placement, Prepared
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest
from app.core.slowdown import Prediction
from app.core.spots import is_alike

_WHOLE = 0.02  # a share up to here is a full offload: the embedding and rounding
_NO_MODEL = "no model file was read, so the bytes per token are not known"
_NO_DEVICE = "no device of this computer is known, so the placement cannot be calculated"


@dataclass(frozen=True, slots=True)
class Forecast:
    """Placement, f, r and the predicted slowdown; what is None has a reason in words."""

    placement: Placement | None
    r: Estimate | None
    prediction: Prediction

    @property
    def f(self) -> float | None:
        """Return the host's share of the bytes read per token."""
        return self.placement.f if self.placement is not None else None


def forecast(evidence: Evidence, r: Estimate | None = None) -> Forecast:
    """Predict the slowdown of the load that was seen.

    r is given, else measured here with both ends, else from bandwidths (slowdown.md section 4).
    """
    model, machine = evidence.model, evidence.machine
    if model is None:
        return Forecast(None, r, Prediction(None, _NO_MODEL))
    devices = machine.devices if machine is not None else ()
    if not devices and _is_on_device(evidence):
        return Forecast(None, r, Prediction(None, _NO_DEVICE))
    request = happened(evidence)
    try:
        prepared = placement.prepare(model)
        placed = placement.place(
            prepared, devices, host_memory.host_of(machine), request,
            build=builds.of_evidence(evidence),
        )  # fmt: skip
    except UserError as error:
        return Forecast(None, r, Prediction(None, error.sentence()))
    measured = measured_r(_alike(evidence), placed.layers_total)
    if measured is not None and measured.high >= 1 and not _has_whole_end(evidence, prepared):
        measured = None  # the device end was none, and nothing may be gone on to it (section 3)
    ratio = r or measured
    ratio = ratio or table_r(machine, _used(devices, request))
    predicted = slowdown.predict(
        placed.f, placed.f_layers, ratio, read_bytes=placed.reads.total_bytes, devices=devices
    )
    return Forecast(placed, ratio, predicted)


def _has_whole_end(evidence: Evidence, prepared: Prepared) -> bool:
    """Tell whether all layers on the device leave nothing to the host that each token reads.

    A buffer that is larger than a device takes stays there, for example a large output matrix.
    """
    machine = evidence.machine
    request = replace(
        happened(evidence), ngl=None, use_devices=True, overrides=(), cpu_moe=False, n_cpu_moe=0,
        n_cpu_ffn=0,
    )  # fmt: skip
    try:
        placed = placement.place(
            prepared, machine.devices if machine else (), host_memory.host_of(machine), request,
            build=builds.of_evidence(evidence),
        )  # fmt: skip
    except UserError:
        return True
    return placed.f <= _WHOLE


def _used(devices: tuple[Device, ...], request: LoadRequest) -> tuple[Device, ...]:
    """Return the devices of the load; with nothing on one, S is still counted from all there."""
    if request.use_devices:
        return assign.usable_devices(devices, request)
    # what was said about devices that were not used need not fit them
    return assign.usable_devices(devices, LoadRequest())


def _alike(evidence: Evidence) -> tuple[BenchRun, ...]:
    """Return the runs, earlier ones first, that differ from the last one in placement alone."""
    again = evidence.again.runs if evidence.again is not None else ()
    runs = (*evidence.history, *again, *evidence.runs)
    last = next((run for run in reversed(runs) if run.test is Test.GENERATION), None)
    return tuple(run for run in runs if last is not None and is_alike(last, run))


def happened(evidence: Evidence) -> LoadRequest:
    """Return the request with what the log says was given instead of what was asked."""
    request = evidence.request or LoadRequest()
    story = evidence.log.load if evidence.log else None
    if story is None:
        return request
    if story.weights_on_device is False and story.is_device_computing:
        request = replace(request, ngl=0)  # long prompts are computed on it all the same
    elif story.weights_on_device is False:
        request = replace(request, use_devices=False, device_ids=())
    elif story.offload_line is not None:
        request = replace(request, ngl=story.offload_line[0])
    request = replace(
        request,
        ctx=story.n_ctx or request.ctx,
        cache_type_k=story.cache_type_k or request.cache_type_k,
        cache_type_v=story.cache_type_v or request.cache_type_v,
    )
    return with_experts(evidence, story, request) if story.weights_on_device else request


def measured_r(runs: tuple[BenchRun, ...], layers_total: int) -> Estimate | None:
    """Return r from the last runs with nothing and with all layers on the device."""
    host = device = None
    for run in runs:
        rate = rate_of(run)
        if run.test is not Test.GENERATION or rate is None or run.busy:
            continue
        ngl = run.setting("n_gpu_layers")
        if ngl is None or not ngl.lstrip("-").isdigit():
            continue
        if run.setting("devices") == "none" or int(ngl) == 0:
            host = rate
        elif (int(ngl) < 0 or int(ngl) >= layers_total) and not _has_moved(run):
            device = rate
    return slowdown.measured_ratio(host, device) if host and device and host.low > 0 else None


def _has_moved(run: BenchRun) -> bool:
    """Tell whether experts or other tensors of layers on the device were left on the host."""
    return run.setting("n_cpu_moe") not in (None, "0") or bool(run.setting("tensor_buft_overrides"))


def rate_of(run: BenchRun) -> Estimate | None:
    """Return a rate in tokens per second with its 95 % interval, None below two samples."""
    low, high = run.low_tps, run.high_tps
    if low is None or high is None or not run.mean_tps:
        return None
    return Estimate(run.mean_tps, low, high, run.instrument, Kind.MEASURED)


def _is_on_device(evidence: Evidence) -> bool:
    story = evidence.log.load if evidence.log else None
    return story is not None and bool(story.weights_on_device)
