"""The protocol by which probes and runtimes ask the machine, so that tests can answer instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.core.reading import State


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a program answered; state is KNOWN when it ran and ended by itself."""

    argv: tuple[str, ...]
    state: State
    code: int | None
    stdout: str
    stderr: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A running process, as far as we may see it."""

    pid: int
    name: str
    exe: str | None
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listener:
    """A TCP port of this computer that a process listens on; pid None = not ours to see."""

    address: str
    port: int
    pid: int | None


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a loopback server answered; status None means no answer, with the reason."""

    status: int | None
    body: bytes
    reason: str = ""
    server: str = ""  # the Server header


@dataclass(frozen=True, slots=True)
class ListedGpu:
    """A graphics card that Windows' registry lists; None = its driver did not write it."""

    name: str
    memory_bytes: int | None = None
    driver: str | None = None


@dataclass(frozen=True, slots=True)
class Adapter:
    """A graphics adapter as Windows lists it; sizes in bytes."""

    name: str
    vendor: int  # PCI: 0x10de NVIDIA, 0x1002 AMD, 0x8086 Intel, 0x1414 Microsoft
    own_bytes: int
    system_bytes: int  # taken from the computer's memory for good
    shared_bytes: int  # a limit, not memory of the adapter
    luid: str  # "0x00000000_0x0000d1e5", the name by which counters know it
    is_software: bool = False


@dataclass(frozen=True, slots=True)
class CounterValue:
    """One value of Windows' performance counters, in bytes."""

    instance: str
    counter: str
    value: int


@dataclass(frozen=True, slots=True)
class CpuTopology:
    """The processor as Windows lists it; classes with their count of cores, fastest first."""

    cores_by_class: tuple[tuple[int, int], ...]
    has_smt: bool = False
    sockets: int | None = None
    numa_nodes: int | None = None
    l2_bytes: int | None = None
    l3_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Basics:
    """What the operating system's own calls say, on each platform; None = it does not say."""

    source: str = "psutil"
    os_name: str | None = None
    arch: str | None = None  # "x86_64", "AMD64", "arm64", "aarch64"
    cpu_name: str | None = None
    logical: int | None = None
    physical: int | None = None
    memory_total_bytes: int | None = None
    memory_available_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    instruction_sets: tuple[str, ...] | None = None
    gpus: tuple[ListedGpu, ...] | None = None
    cpu_topology: CpuTopology | None = None
    adapters: tuple[Adapter, ...] | None = None
    counters: tuple[CounterValue, ...] | None = None
    is_plugged: bool | None = None  # mains power, None = no battery or not told
    battery_percent: int | None = None
    power_plan: str | None = None  # Windows: the GUID of the plan
    power_overlay: str | None = None  # Windows: the GUID that the power slider lays over it
    metal_working_set_bytes: int | None = None  # macOS: what Metal recommends at most
    metal_max_buffer_bytes: int | None = None
    thermal_state: int | None = None  # macOS: NSProcessInfo's, 0 nominal to 3 critical


@dataclass(frozen=True, slots=True)
class NvmlValue:
    """One answer of NVIDIA's library; error is NVML's name for why there is none."""

    query: str  # "name", "memory_v2.total", ...
    value: int | str | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class NvmlAnswer:
    """All that NVIDIA's library says: about the driver, and about each card in order."""

    state: State
    reason: str = ""
    source: str = "NVML"
    driver: tuple[NvmlValue, ...] = ()
    cards: tuple[tuple[NvmlValue, ...], ...] = ()


class Host(Protocol):
    """Read-only questions to the machine; nothing here raises for what is missing."""

    def platform(self) -> str:
        """Return linux, win32 or darwin."""

    def read_text(self, path: str, limit: int = 1 << 20) -> str | None:
        """Return a file's text, None when it is missing or may not be read."""

    def list_dir(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder, sorted; empty when there is none."""

    def is_file(self, path: str) -> bool:
        """Tell whether a regular file is there."""

    def file_bytes(self, path: str) -> int | None:
        """Return a file's size, None when it is missing."""

    def read_start(self, path: str, n_bytes: int) -> bytes:
        """Return at most the first n_bytes of a file, empty when it may not be read."""

    def may_use(self, path: str) -> bool | None:
        """Tell whether a file or device may be read and written, None when it is not there."""

    def real_path(self, path: str) -> str:
        """Return the path with links followed; the path itself when there are none."""

    def env(self) -> Mapping[str, str]:
        """Return the environment."""

    def home(self) -> str:
        """Return the user's home folder."""

    def which(self, name: str) -> str | None:
        """Return the path of a program on PATH."""

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Run a program to its end with a time limit, stdin closed, LC_ALL=C."""

    def processes(self) -> tuple[ProcessInfo, ...]:
        """Return the running processes."""

    def listeners(self) -> tuple[Listener, ...]:
        """Return the listening TCP ports."""

    def get(self, url: str, timeout_s: float = 0.5, limit: int = 1 << 20) -> HttpAnswer:
        """GET a loopback address; no redirects, at most limit bytes."""

    def basics(self) -> Basics:
        """Return what the operating system's own calls say."""

    def nvml(self) -> NvmlAnswer:
        """Return what NVIDIA's library says."""
