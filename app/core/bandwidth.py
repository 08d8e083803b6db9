"""Memory bandwidth of devices and host, and the ratio r that follows from it."""

from dataclasses import dataclass, replace

from app.core import facts, slowdown
from app.core.device_table import CONFIDENCE, Row, match
from app.core.gpus import Gpu, GpuKind, gpus
from app.core.machine import Device, DeviceKind, Machine, MachineFact
from app.core.reading import Estimate, Kind

MEASURED = "memory.read_bandwidth"
_LOW, _HIGH = f"{MEASURED}_low", f"{MEASURED}_high"
_TABLE = "table of devices"
_DERIVED = "memory clock x bus width, the rate per clock chosen by the table"
# share of the theoretical bandwidth that decode reaches (hardware.md section 9, efficiency.tsv)
_SHARES = {
    DeviceKind.CUDA: 0.70,
    DeviceKind.ROCM: 0.55,
    DeviceKind.VULKAN: 0.60,
    DeviceKind.METAL: 0.75,
    DeviceKind.SYCL: 0.45,
}
_OTHER_SHARE = 0.60
_HOST_OF_THEORY, _HOST_OF_MEASURED = 0.65, 0.80
# "state a prediction as a range, planning value +-25 %" (hardware.md section 9)
PLANNING_ERROR = 0.25
# transfers per clock of the memory types, for drivers that tell bus and clock but no type
_RATES = (16, 8, 4, 2)


@dataclass(frozen=True, slots=True)
class HostRate:
    """Read rates of system memory in bytes per second, from one measurement."""

    value: float  # the median
    low: float
    high: float
    n: int
    threads: int
    buffer_bytes: int
    time: str  # UTC, ISO 8601
    processor: str
    busy: str = ""  # why the figure is an upper bound, "" when the computer was quiet
    is_cache: bool = False  # the buffer was not four times the last cache


def with_devices(machine: Machine, rows: tuple[Row, ...]) -> Machine:
    """Return the machine with a bandwidth for each GPU that the table knows; it can be asked anew.

    What was looked up before gives way: a pasted fact can name another row.
    """
    told = tuple(fact for fact in machine.facts if not _is_looked_up(fact))
    machine = replace(machine, facts=told)
    found = [fact for gpu in gpus(machine) if (fact := _fact(machine, gpu, rows)) is not None]
    return replace(machine, facts=(*machine.facts, *found)) if found else machine


def with_host(machine: Machine, rate: HostRate | None) -> Machine:
    """Return the machine with a measured read rate, when it was measured on this processor."""
    if rate is None or rate.processor != (machine.text("cpu.model") or ""):
        return machine
    source = f"measured {rate.time[:10]} with {rate.threads} threads, median of {rate.n}"
    if rate.busy:
        source += f"; an upper bound, {rate.busy}"
    if rate.is_cache:
        source += "; partly from the cache"
    kept = tuple(f for f in machine.facts if f.path not in (MEASURED, _LOW, _HIGH))
    new = (
        facts.known(path, round(value), source=source, unit="bytes/s")
        for path, value in ((MEASURED, rate.value), (_LOW, rate.low), (_HIGH, rate.high))
    )
    return replace(machine, facts=(*kept, *new))


def device_rate(machine: Machine, device: Device) -> MachineFact | None:
    """Return the bandwidth of a device of llama.cpp, None when it is not known."""
    gpu = next((g for g in gpus(machine) if device in g.devices), None)
    fact = None if gpu is None or gpu.index is None else machine.fact(gpu.path("bandwidth"))
    if fact is not None and fact.reading.value is not None:
        return fact
    return machine.fact(f"device.{device.id}.bandwidth")


def host_rate(machine: Machine) -> Estimate | None:
    """Return the host's read rate: measured here, or from speed and channels of the modules.

    Either is scaled to what decode reaches of it, so that both can stand in one ratio.
    """
    value = machine.number(MEASURED)
    fact = machine.fact(MEASURED)
    if value and fact is not None:
        low, high = machine.number(_LOW) or value, machine.number(_HIGH) or value
        scale = _HOST_OF_MEASURED / _HOST_OF_THEORY
        return Estimate(
            value * scale, low * scale, high * scale, fact.reading.source, Kind.MEASURED
        )
    fact = machine.fact("memory.bandwidth")
    value = machine.number("memory.bandwidth")
    if value and fact is not None:
        return Estimate(value, value, value, fact.reading.source, Kind.CALCULATED)
    return None


def decode_rate(machine: Machine, device: Device) -> Estimate | None:
    """Return the bytes per second that a device reads while it writes text, None = not known."""
    fact = device_rate(machine, device)
    value = fact.reading.value if fact else None
    if fact is None or not isinstance(value, int) or value <= 0:
        return None
    share = _SHARES.get(device.kind, _OTHER_SHARE)
    source = f"{share:.0%} of {device.id}'s bandwidth ({fact.reading.source})"
    return _planned(value * share, source)


def host_decode_rate(machine: Machine) -> Estimate | None:
    """Return the bytes per second that the processor reads while it writes text."""
    host = host_rate(machine)
    if host is None or host.low <= 0:
        return None
    share = _HOST_OF_MEASURED if host.kind is Kind.MEASURED else _HOST_OF_THEORY
    source = f"{share:.0%} of system memory's bandwidth ({host.source})"
    found = _planned(host.value * _HOST_OF_THEORY, source)
    low, high = host.low / host.value, host.high / host.value
    return replace(found, low=found.low * low, high=found.high * high)


def _planned(value: float, source: str) -> Estimate:
    return Estimate(
        value, value * (1 - PLANNING_ERROR), value * (1 + PLANNING_ERROR), source, Kind.TABLE
    )


def table_r(machine: Machine | None, devices: tuple[Device, ...]) -> Estimate | None:
    """Return r from bandwidths, with the range that such tables have; None = cannot be told.

    A device that shares the computer's memory has no r of this kind: both ends read one memory.
    """
    if machine is None or not devices:
        return None
    host = host_rate(machine)
    shared = {GpuKind.SHARED, GpuKind.SOFTWARE, GpuKind.REMOTE}
    by_device = {device.id: gpu for gpu in gpus(machine) for device in gpu.devices}
    rates = []
    for device in devices:
        gpu, fact = by_device.get(device.id), device_rate(machine, device)
        value = fact.reading.value if fact else None
        if gpu is None or gpu.kind in shared or device.is_integrated:
            return None
        if fact is None or not isinstance(value, int) or value <= 0:
            return None
        rates.append((value * _SHARES.get(device.kind, _OTHER_SHARE) / 0.70, device, fact))
    if host is None or host.low <= 0:
        return None
    # several devices work one after the other: the slowest is the careful choice
    rate, device, fact = min(rates, key=lambda item: item[0])
    source = f"bandwidth of {device.id} ({fact.reading.source}) over the host's ({host.source})"
    r = slowdown.table_ratio(rate, host.value, source)
    return replace(r, low=r.low * host.value / host.high, high=r.high * host.value / host.low)


def _is_looked_up(fact: MachineFact) -> bool:
    source = fact.reading.source
    return ".bandwidth" in fact.path and (source.startswith(_TABLE) or source == _DERIVED)


def _fact(machine: Machine, gpu: Gpu, rows: tuple[Row, ...]) -> MachineFact | None:
    if gpu.kind in (GpuKind.SOFTWARE, GpuKind.REMOTE):
        return None
    path = gpu.path("bandwidth")
    is_told = gpu.index is not None and machine.number(path) is not None
    if gpu.index is None:
        path = f"device.{gpu.devices[0].id}.bandwidth"
    total = machine.number(gpu.path("memory_total")) if gpu.index is not None else None
    total = total or next((d.total_bytes for d in gpu.devices if d.total_bytes), None)
    cores = machine.number(gpu.path("cores")) if gpu.index is not None else None
    names = (gpu.name, *(device.description for device in gpu.devices))
    row = next((r for name in names if (r := match(rows, name, total, cores)) is not None), None)
    if row is None:
        return None
    source = f"{_TABLE}: {row.source}; {CONFIDENCE[row.confidence]}"
    if is_told:  # by the card's own clocks or its tool: the table is beside it (core/doubts)
        beside = gpu.path("bandwidth_table")
        return facts.known(beside, row.bandwidth, source=source, unit="bytes/s")
    derived = _derived(machine, gpu, row)
    if derived is not None:
        return facts.known(path, derived, source=_DERIVED, unit="bytes/s")
    return facts.known(path, row.bandwidth, source=source, unit="bytes/s")


def _derived(machine: Machine, gpu: Gpu, row: Row) -> int | None:
    """Return bus x clock x m, with the m that comes nearest the table (hardware.md section 4)."""
    if gpu.index is None:
        return None
    bits = machine.number(gpu.path("memory_bus_width"))
    clock = machine.number(gpu.path("memory_base_clock"))
    if not bits or not clock:
        return None
    found = [bits // 8 * clock * 1_000_000 * m for m in _RATES]
    best = min(found, key=lambda value: abs(value - row.bandwidth))
    return best if abs(best - row.bandwidth) < 0.15 * row.bandwidth else None
