"""What is known of a computer: facts with sources, devices as the runtime lists them, runtimes."""

from dataclasses import dataclass
from enum import Enum

from app.core.reading import Reading


class DeviceKind(Enum):
    """The backend through which a runtime uses a device."""

    CUDA = "cuda"
    ROCM = "rocm"
    VULKAN = "vulkan"
    METAL = "metal"
    SYCL = "sycl"
    RPC = "rpc"
    OTHER = "other"


class CpuKind(Enum):
    """Which buffer kinds llama.cpp's CPU backend offers for weights on the host."""

    NONE = "none"
    AVX2 = "avx2"
    AVX512 = "avx512"
    AMX = "amx"
    ARM = "arm"


@dataclass(frozen=True, slots=True)
class Device:
    """A device where layers may go, as llama.cpp names it; sizes in bytes, None = not known."""

    id: str  # "Vulkan0"
    kind: DeviceKind
    description: str
    total_bytes: int | None
    free_bytes: int | None
    source: str
    max_buffer_bytes: int | None = None
    is_software: bool = False
    is_integrated: bool | None = None


@dataclass(frozen=True, slots=True)
class MachineFact:
    """One fact by its dotted path, for example cpu.physical or memory.total."""

    path: str
    reading: Reading[int] | Reading[float] | Reading[str] | Reading[bool] | Reading[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Flag:
    """One option of a program's --help; value is its placeholder, "" for a switch."""

    names: tuple[str, ...]
    value: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """One executable of a runtime; no flags = its --help was not read."""

    name: str  # "llama-server"
    path: str
    flags: tuple[Flag, ...] = ()

    def flag(self, name: str) -> Flag | None:
        """Return the option with this name, with its dashes."""
        return next((flag for flag in self.flags if name in flag.names), None)

    def supports(self, name: str) -> bool | None:
        """Tell whether the program has an option, None when its --help was not read."""
        return self.flag(name) is not None if self.flags else None


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that a running runtime holds; None = it does not say."""

    name: str
    n_bytes: int | None = None
    device_bytes: int | None = None  # of n_bytes; less than all is a partial offload
    ctx: int | None = None
    settings: tuple[str, ...] = ()  # how it is loaded, in the runtime's words


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime found on this computer; version None = it did not say."""

    id: str  # "llama.cpp", "ollama", "lm-studio", ...
    title: str
    folder: str
    version: str | None
    build: int | None
    programs: tuple[Program, ...]
    source: str
    is_running: bool = False
    backends: tuple[str, ...] = ()
    loaded: tuple[LoadedModel, ...] = ()  # only of a runtime that runs
    port: int | None = None  # on this computer, while it runs
    argv: tuple[str, ...] = ()  # how it was started, without keys; () = not ours to see
    is_silent: bool = False  # its program was asked and gave no answer in time
    is_translated: bool = False  # built for Intel on a Mac with Apple's chip: no Metal, slow code

    def program(self, name: str) -> str | None:
        """Return the path of a program by its plain name, None when the runtime lacks it."""
        found = self.executable(name)
        return found.path if found else None

    def executable(self, name: str) -> Program | None:
        """Return a program with its options, None when the runtime lacks it."""
        return next((p for p in self.programs if p.name == name), None)


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A GGUF file found on this computer; a split model is one, by its first part."""

    path: str
    title: str  # as its owner calls it: "llama3:8b", "owner/repo/file.gguf"
    n_bytes: int  # of all parts that are there
    source: str  # "Ollama", "Hugging Face cache", ...
    n_parts: int = 1
    is_projector: bool = False  # mmproj: the eyes of a model, not a model
    is_draft: bool = False  # made to guess for another model
    n_parts_expected: int = 1  # more than n_parts: it is incomplete


@dataclass(frozen=True, slots=True)
class Machine:
    """Everything the probes found, at one moment."""

    facts: tuple[MachineFact, ...] = ()
    devices: tuple[Device, ...] = ()
    runtimes: tuple[Runtime, ...] = ()
    devices_source: str = ""  # which program listed the devices, "" when none was asked
    skipped: tuple[str, ...] = ()  # probes that failed, in words

    def fact(self, path: str) -> MachineFact | None:
        """Return the fact with this path."""
        return next((fact for fact in self.facts if fact.path == path), None)

    def number(self, path: str) -> int | None:
        """Return a whole number, None when the fact is missing."""
        value = self._value(path)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, path: str) -> str | None:
        """Return a text, None when the fact is missing."""
        value = self._value(path)
        return value if isinstance(value, str) else None

    def words(self, path: str) -> tuple[str, ...] | None:
        """Return a list of words, None when the fact is missing."""
        value = self._value(path)
        return value if isinstance(value, tuple) else None

    def flag(self, path: str) -> bool | None:
        """Return a yes or no, None when the fact is missing."""
        value = self._value(path)
        return value if isinstance(value, bool) else None

    def _value(self, path: str) -> object:
        fact = self.fact(path)
        return fact.reading.value if fact else None


@dataclass(frozen=True, slots=True)
class Host:
    """System memory and CPU as a placement needs them; sizes in bytes."""

    cpu: CpuKind = CpuKind.NONE
    total_bytes: int | None = None
    available_bytes: int | None = None
