"""The one frozen value that holds what was seen, never what was concluded."""

from dataclasses import dataclass

from app.core.bench import BenchRun
from app.core.log import LogSummary
from app.core.machine import Machine
from app.core.model import Model
from app.core.request import LoadRequest


@dataclass(frozen=True, slots=True)
class MemoryWatch:
    """Memory and CPU sampled while a program ran; rates in bytes per s, None = not readable."""

    seconds: float
    n_samples: int
    swap_in_max: float | None = None
    swap_out_max: float | None = None
    refault_max: float | None = None  # mapped model pages read again
    swap_used_before_bytes: int | None = None
    swap_used_after_bytes: int | None = None
    other_cpu_max: float | None = None  # cores used by other programs, in cores
    cores: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """How the load probe ended: ready, failed with an exit code, or stopped."""

    command: tuple[str, ...]
    program: str
    is_ready: bool
    exit_text: str  # in words, "" while ready
    load_s: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything seen so far; a part not seen yet is None or empty."""

    model: Model | None = None
    machine: Machine | None = None
    request: LoadRequest | None = None
    outcome: LoadOutcome | None = None
    log: LogSummary | None = None
    runs: tuple[BenchRun, ...] = ()
    watch: MemoryWatch | None = None
    symptom: str = ""
    notes: tuple[str, ...] = ()  # which steps were not possible, and why
