"""Tokens per second of a placement, prompt and generation apart, as ranges with their basis.

The order is that of slowdown.md section 3: rates measured here on this model, then a measured
device end with r, then bandwidths. Where none of them says anything there is a reason instead.
"""

from dataclasses import dataclass, replace

from app.core import bandwidth, slowdown, units
from app.core.assign import usable_devices
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.expectation import between, ends
from app.core.gpus import GpuKind, gpus
from app.core.machine import Device, Host, Machine
from app.core.model import Model
from app.core.placement import Placement
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest
from app.core.spots import Spot, copies, host_weight_share, inverse, is_alike, spots_of

PROMPT_TOKENS = 1000  # of which a prompt's time is told
_END = 0.001
# a prompt whose weights are copied kept to the line within this, 44 points (section 9)
_COPIED_ERROR = 0.14
# one that the processor computes, 4 points within 5 %
_COMPUTED_ERROR = 0.10
# of what PCIe carries by its standard, bytes per second and lane from generation 1 on
_LANE = (0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9)
# what copies of host weights reached of that (section 9)
_LINK_LOW, _LINK, _LINK_HIGH = 0.3, 0.5, 0.7
_MEASURE = "measure it (Benchmark)"


@dataclass(frozen=True, slots=True)
class Basis:
    """What rates are calculated from; spots are what was measured here on this model."""

    machine: Machine | None
    devices: tuple[Device, ...]  # those that the load uses
    host: Host
    request: LoadRequest
    r: Estimate | None
    generation: tuple[Spot, ...] = ()
    prompt: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Pace:
    """Rates in tokens per second; what is None has a reason in words."""

    generation: Estimate | None
    generation_why: str
    prompt: Estimate | None
    prompt_why: str

    @property
    def prompt_time(self) -> Estimate | None:
        """Return the seconds for a prompt of PROMPT_TOKENS tokens."""
        found = self.prompt
        if found is None:
            return None
        return Estimate(
            PROMPT_TOKENS / found.value,
            PROMPT_TOKENS / found.high,
            PROMPT_TOKENS / found.low,
            found.source,
            found.kind,
        )


def basis_of(
    model: Model | None,
    machine: Machine | None,
    *,
    runs: tuple[BenchRun, ...],
    devices: tuple[Device, ...],
    host: Host,
    request: LoadRequest,
    r: Estimate | None,
    fill: int = 0,
) -> Basis:
    """Collect what there is; devices may be described ones, of which nothing was measured."""
    used = usable_devices(devices, request)
    empty = Basis(machine, used, host, request, r)
    here = machine.devices if machine is not None else ()
    if model is None or machine is None or any(device not in here for device in used):
        return empty
    if used and len(used) != len(usable_devices(here, LoadRequest())):
        return empty  # the runs used other devices
    evidence = Evidence(model=model, machine=machine)
    generation, prompt = (
        _spots(evidence, runs, request, test, fill) for test in (Test.GENERATION, Test.PROMPT)
    )
    return Basis(machine, used, host, request, r, generation, prompt)


def pace_of(basis: Basis, placed: Placement) -> Pace:
    """Return both rates of a placement."""
    why = _no_room(basis, placed)
    if why:
        return Pace(None, why, None, why)
    generation, generation_why = _generation(basis, placed)
    prompt, prompt_why = _prompt(basis, placed)
    return Pace(generation, generation_why, prompt, prompt_why)


def _spots(
    evidence: Evidence, runs: tuple[BenchRun, ...], request: LoadRequest, test: Test, fill: int
) -> tuple[Spot, ...]:
    """Return the latest quiet rate of each placement that differs from this load in it alone."""
    fitting = [
        run
        for run in runs
        if run.test is test
        and not run.busy
        and run.depth == fill
        and (run.setting("type_k") or "f16") == request.cache_type_k
        and (run.setting("type_v") or "f16") == request.cache_type_v
        and (run.setting("no_kv_offload") in ("true", "1")) is not request.kv_offload
    ]
    alike = tuple(run for run in fitting if is_alike(run, fitting[-1]))
    by_share = {round(spot.share, 4): spot for spot in spots_of(evidence, alike)}
    return tuple(by_share[share] for share in sorted(by_share))


def _no_room(basis: Basis, placed: Placement) -> str:
    """Say that the load has no room, so that it has no rate; "" where it has, or is not known."""
    free = {device.id: device.free_bytes for device in basis.devices}
    for row in placed.rows:
        room = free.get(row.buffer)
        least = row.weights_bytes + row.context_bytes + row.compute_low_bytes
        if room is not None and least > room:
            return f"It does not fit on {row.buffer}: {units.size(least)}, {units.size(room)} free."
    host = placed.total(is_host=True)
    total = basis.host.total_bytes
    if total is not None and host.weights_bytes + host.context_bytes > total:
        return "It needs more system memory than there is, so it would be read from the drive."
    return ""


def _share(basis: Basis, placed: Placement) -> float:
    if not basis.devices:
        return 1.0
    return _rounded(slowdown.predicted_share(placed.f, placed.f_layers))


def _rounded(share: float) -> float:
    """Return the end that a share is, else the share."""
    return round(share) if share < _END or share > 1 - _END else share


def _generation(basis: Basis, placed: Placement) -> tuple[Estimate | None, str]:
    share = _share(basis, placed)
    between_ends = 0 < share < 1
    why = slowdown.refusal(share, basis.r, basis.devices)
    if not why and between_ends and any(_is_shared(basis.machine, d) for d in basis.devices):
        why = slowdown.SHARED
    if why:
        return None, why
    end = _end(share, basis.generation)
    if end is not None:
        return _measured(end)
    found = between(share, basis.generation)
    if found is not None:
        return inverse(_widened(found[0], placed)), ""
    device, _host = ends(basis.generation)
    if device is not None and between_ends and basis.r is not None:
        return _from_device_end(device, basis, placed)
    return _by_bandwidth(basis, placed, share)


def _end(share: float, spots: tuple[Spot, ...]) -> Spot | None:
    """Return the rate of the end that a share is, None between the ends or not measured."""
    device, host = ends(spots)
    return device if share <= 0 else host if share >= 1 else None


def _measured(end: Spot) -> tuple[Estimate | None, str]:
    where = "all layers on the device" if end.share < 0.5 else "nothing on a device"
    return replace(end.rate, source=f"measured here with {where} ({end.rate.source})"), ""


def _widened(time: Estimate, placed: Placement) -> Estimate:
    low, high = slowdown.widened(time.low, time.high, placed.reads.total_bytes)
    return Estimate(time.value, low, high, time.source, time.kind)


def _from_device_end(device: Spot, basis: Basis, placed: Placement) -> tuple[Estimate | None, str]:
    """Return the rate measured with all layers on the device, over the predicted slowdown."""
    told = slowdown.predict(
        placed.f, placed.f_layers, basis.r,
        read_bytes=placed.reads.total_bytes, devices=basis.devices,
    )  # fmt: skip
    s, rate = told.slowdown, device.rate
    if s is None:
        return None, told.reason
    source = (
        f"{units.rate(rate.value)} measured here with all layers on the device, over {s.source}"
    )
    return (
        Estimate(
            rate.value / s.value, rate.low / s.high, rate.high / s.low, source, Kind.CALCULATED
        ),
        "",
    )


def _by_bandwidth(basis: Basis, placed: Placement, share: float) -> tuple[Estimate | None, str]:
    """Return the rate from bandwidths: the sum of the times of all devices and the host."""
    machine, reads = basis.machine, placed.reads
    nothing = f"No rate of this model was measured here, and {{}}: {_MEASURE}."
    if machine is None:
        return None, nothing.format("the bandwidths of described devices are not known")
    if _is_larger_than_the_devices(basis, placed):
        return None, (
            "The model is larger than the devices, so how fast all of it would be there is not "
            "known. Measure two numbers of blocks with experts in system memory."
        )
    device_s = 0.0
    sources = []
    for device, n_bytes in zip(basis.devices, reads.device_bytes, strict=False):
        rate = bandwidth.decode_rate(machine, device)
        if n_bytes and share < 1:
            if rate is None:
                return None, nothing.format(f"the bandwidth of {device.id} is not known")
            device_s += n_bytes / rate.value
            sources.append(rate.source)
    # the block term moves time from the device's side to the host's (slowdown.md section 3)
    on_device = sum(reads.device_bytes) / max(1, reads.total_bytes)
    device_s *= (1 - share) / on_device if on_device else 0.0
    host = bandwidth.host_decode_rate(machine)
    if not share:
        return _rate(device_s, 0.0, 0.0, 0.0, sources), ""
    if host is None:
        return None, nothing.format("the bandwidth of system memory is not known (Hardware tab)")
    host_s = share * reads.total_bytes / host.value
    low, high = slowdown.TABLE_LOW, slowdown.TABLE_HIGH
    if not device_s:
        low = high = 1.0  # the host alone: its own range is all
    spread = 1 + bandwidth.PLANNING_ERROR
    fast = host_s * low * host.value * spread / host.high
    slow = host_s * high * host.value * (1 - bandwidth.PLANNING_ERROR) / host.low
    return _rate(device_s, host_s, fast, slow, [*sources, host.source]), ""


def _rate(
    device_s: float, host_s: float, host_low_s: float, host_high_s: float, sources: list[str]
) -> Estimate:
    value = 1 / (device_s + host_s)
    error = bandwidth.PLANNING_ERROR
    return Estimate(
        value,
        (1 - error) / (device_s + host_high_s),
        (1 + error) / (device_s + host_low_s),
        f"bytes per token over {', and over '.join(dict.fromkeys(sources))}",
        Kind.TABLE,
    )


def _is_larger_than_the_devices(basis: Basis, placed: Placement) -> bool:
    """Tell whether experts are on the host because not all of the model could be on devices."""
    room = [device.total_bytes or device.free_bytes for device in basis.devices]
    if not basis.request.has_override or None in room:
        return False
    weights = sum(layer.weights_bytes for layer in placed.layers)
    return weights > sum(n_bytes or 0 for n_bytes in room)


def _prompt(basis: Basis, placed: Placement) -> tuple[Estimate | None, str]:
    is_copied = copies(basis.devices, basis.request)
    share = host_weight_share(placed) if is_copied else _share(basis, placed)
    share = 1.0 if not basis.devices else _rounded(share)
    end = _end(share, basis.prompt)
    if end is not None:
        return _measured(end)
    found = between(share, basis.prompt)
    if found is not None:
        time, error = found[0], _COPIED_ERROR if is_copied else _COMPUTED_ERROR
        low, high = time.low / (1 + error), time.high / (1 - error)
        return inverse(replace(time, low=low, high=high)), ""
    device, _host = ends(basis.prompt)
    link = _link(basis)
    if device is not None and is_copied and link is not None:
        return _over_the_link(device, link, basis, placed), ""
    return None, f"A prompt's rate does not follow from bandwidths: {_MEASURE}."


def _over_the_link(device: Spot, link: Estimate, basis: Basis, placed: Placement) -> Estimate:
    """Return u tokens over u / pp_all + H / L: host weights are copied for each micro-batch."""
    copied = sum(layer.host_weights_bytes for layer in placed.layers)
    per_token = [copied / rate / basis.request.ubatch for rate in (link.value, link.low, link.high)]
    time = Estimate(
        device.time.value + per_token[0],
        device.time.low + per_token[2],
        device.time.high + per_token[1],
        f"{units.rate(device.rate.value)} measured here with all layers on the device, and "
        f"{units.size(copied)} copied for each {basis.request.ubatch} tokens over {link.source}",
        Kind.CALCULATED,
    )
    return inverse(time)


def _link(basis: Basis) -> Estimate | None:
    """Return the bytes per second that copies to the slowest linked device reach."""
    machine = basis.machine
    rates = []
    for gpu in gpus(machine) if machine is not None else ():
        if machine is None or gpu.index is None or not set(gpu.devices) & set(basis.devices):
            continue
        generation = machine.number(gpu.path("pcie_generation_max"))
        lanes = machine.number(gpu.path("pcie_width"))
        if generation is None or not 0 < generation <= len(_LANE) or not lanes:
            return None
        raw = _LANE[generation - 1] * lanes
        source = f"PCIe {generation} with {lanes} lanes (30 to 70 % of {units.bandwidth(raw)})"
        rates.append(Estimate(raw * _LINK, raw * _LINK_LOW, raw * _LINK_HIGH, source, Kind.TABLE))
    return min(rates, key=lambda one: one.value) if rates else None


def _is_shared(machine: Machine | None, device: Device) -> bool:
    """Tell whether the driver says that a device uses the computer's memory."""
    if machine is None:
        return False
    return any(gpu.kind is GpuKind.SHARED and device in gpu.devices for gpu in gpus(machine))
