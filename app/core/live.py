"""The live values of a computer at one moment: CPU, memory, swap, GPUs, the runtimes' processes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU; None = it does not tell."""

    name: str
    busy: float | None = None  # share of time, 0 to 1
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature: float | None = None  # °C
    power_w: float | None = None
    power_limit_w: float | None = None
    clock_reasons: int | None = None  # NVML's bits
    link_bytes_s: float | None = None  # over PCIe, both ways
    memory_busy: float | None = None  # share of time in which its memory was read or written
    temperature_limit: float | None = None  # °C at which it slows down
    power_default_w: float | None = None  # the limit that the maker set
    link_width: int | None = None  # lanes
    link_width_max: int | None = None
    link_generation: int | None = None  # falls while the card idles
    link_generation_max: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class ProcessReading:
    """One process of a runtime; cpu_cores is in cores since the reading before."""

    pid: int
    title: str  # the runtime's, and the program's where that says more
    command: str = ""  # keys and prompts left out
    cpu_cores: float | None = None
    resident_bytes: int | None = None
    gpu_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class LiveReading:
    """One moment; rates since the reading before it, None = not known (the first has no rates)."""

    at_s: float  # a clock that only counts up
    cpu_share: float | None = None  # of all CPUs, 0 to 1
    memory_used_bytes: int | None = None  # what programs cannot get: total less available
    memory_total_bytes: int | None = None
    swap_in_bytes_s: float | None = None
    swap_out_bytes_s: float | None = None
    refault_bytes_s: float | None = None  # of files that were thrown out and are read again
    cpu_kinds: tuple[tuple[str, float], ...] = ()  # share in use by kind of cores, of hybrid CPUs
    gpus: tuple[GpuReading, ...] = ()
    processes: tuple[ProcessReading, ...] = ()
    limit_bytes: int | None = None  # a container's or service's limit on us
    limit_used_bytes: int | None = None  # what counts against it
    limit_hits: int | None = None  # how often it was reached since the reading before
    spilled_bytes: int | None = None  # Windows: card memory of the runtimes in system memory
    fault_bytes_s: float | None = None  # Windows: read for faults, swap and files together
    cpu_mhz: int | None = None  # of the fastest core
    cpu_temperature: float | None = None  # °C
    cpu_throttles: int | None = None  # how often heat held it down since the reading before
