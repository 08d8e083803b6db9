"""What a probe and a runtime search are: a name, a question to the machine, a time limit."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.host import Host
from app.core.machine import MachineFact, Runtime


@dataclass(frozen=True, slots=True)
class Probe:
    """One source of facts; read never raises for what is missing."""

    name: str
    read: Callable[[Host], tuple[MachineFact, ...]]
    time_limit_s: float = 3.0


@dataclass(frozen=True, slots=True)
class RuntimeProbe:
    """How one runtime is found; folders are those that the user named, looked into first."""

    id: str  # "llama.cpp", "ollama", ...
    title: str
    find: Callable[[Host, tuple[str, ...]], tuple[Runtime, ...]]
    time_limit_s: float = 10.0
