"""What a probe and a runtime search are: a name, a question to the machine, a time limit."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.host import Host
from app.core.machine import MachineFact, Runtime
from app.core.request import LoadRequest


@dataclass(frozen=True, slots=True)
class Probe:
    """One source of facts; read never raises for what is missing."""

    name: str
    read: Callable[[Host], tuple[MachineFact, ...]]
    time_limit_s: float = 3.0


@dataclass(frozen=True, slots=True)
class LoadWish:
    """A load to put into a runtime's own words."""

    request: LoadRequest
    model_path: str = "MODEL.gguf"
    layers_total: int | None = None  # blocks + 1, as n_gpu_layers counts; None = not known
    platform: str = "linux"  # whose shell takes the command


@dataclass(frozen=True, slots=True)
class RuntimeProbe:
    """How one runtime is found, and how a load is written for it.

    find takes the folders that the user named, looked into first. setting returns the text to
    copy: a command, or the names of the settings with their values.
    """

    id: str  # "llama.cpp", "ollama", ...
    title: str
    find: Callable[[Host, tuple[str, ...]], tuple[Runtime, ...]]
    setting: Callable[[LoadWish], str]
    time_limit_s: float = 5.0
