"""The one frozen value that holds what was seen, never what was concluded."""

from dataclasses import dataclass, replace

from app.core.bench import BenchRun
from app.core.log import LogSummary
from app.core.machine import Machine
from app.core.model import Model
from app.core.request import LoadRequest
from app.core.said import Said
from app.core.track import Track


@dataclass(frozen=True, slots=True)
class MemoryWatch:
    """Memory and CPU sampled while a program ran; rates in bytes per s, None = not readable."""

    seconds: float
    n_samples: int
    swap_in_max: float | None = None
    swap_out_max: float | None = None
    refault_max: float | None = None  # mapped model pages read again
    fault_max: float | None = None  # Windows: read for faults, swap and mapped files together
    swap_used_before_bytes: int | None = None
    swap_used_after_bytes: int | None = None
    own_growth_bytes: int | None = None  # memory of the runtime itself, after a load
    other_cpu_max: float | None = None  # cores used by other programs, in cores
    cores: int | None = None
    source: str = ""
    n_cpu_thermal: int | None = None  # samples in which heat held the processor down


@dataclass(frozen=True, slots=True)
class GpuWatch:
    """A GPU sampled while a model wrote; shares are 0 to 1, sizes bytes, None = not readable."""

    n_samples: int
    source: str = ""
    use_mean: float | None = None  # of the time it computed
    memory_use_mean: float | None = None  # of the time its memory was read or written
    free_min_bytes: int | None = None
    shared_growth_bytes: int | None = None  # Windows: system memory it took on for the program
    n_thermal: int | None = None  # samples with a thermal reason
    memory_clock_min: float | None = None  # of the highest clock before, while it worked
    is_capped: bool | None = None  # the power limit was active: normal under load
    name: str = ""
    index: int | None = None  # of the card, as its driver counts
    n_busy: int | None = None  # samples in which it worked
    clock_min: float | None = None  # as memory_clock_min, of the clock that computes
    reasons: tuple[str, ...] = ()  # why clocks were held down, in words; seen often enough
    temperature_max: float | None = None  # °C
    temperature_limit: float | None = None
    power_max_w: float | None = None
    power_limit_w: float | None = None
    power_default_w: float | None = None  # the maker's limit
    link_max_bytes_s: float | None = None
    link_width: int | None = None  # lanes, at least, while it worked
    link_width_max: int | None = None
    link_generation: int | None = None  # at most, while it worked: it falls when idle
    link_generation_max: int | None = None


@dataclass(frozen=True, slots=True)
class TextCheck:
    """A short answer at temperature 0, and whether it could be read and ended by itself."""

    settings: tuple[tuple[str, str], ...]  # those that may spoil text: types, template
    is_readable: bool
    has_ended: bool | None = None
    n_generated: int | None = None  # tokens, those of a hidden thought included
    n_shown: int | None = None
    leaked: str = ""  # a word of a chat template that stands in the answer
    source: str = ""

    @property
    def is_wrong(self) -> bool:
        """Tell whether it shows a fault: unreadable, endless, or with words of the template."""
        return not self.is_readable or self.has_ended is False or bool(self.leaked)


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """How the load probe ended: ready, failed with an exit code, or stopped."""

    command: tuple[str, ...]
    program: str
    is_ready: bool
    exit_text: str  # in words, "" while ready
    load_s: float | None = None


@dataclass(frozen=True, slots=True)
class SecondRun:
    """The same load and measurement again, with one change; parts are None as in Evidence."""

    rule_id: str  # the fault whose fix it tries, "" = a ranked change
    first_run_id: str  # the rates that it is compared with, "" = the first load had none
    request: LoadRequest
    outcome: LoadOutcome | None = None
    log: LogSummary | None = None
    runs: tuple[BenchRun, ...] = ()
    watch: MemoryWatch | None = None
    notes: tuple[str, ...] = ()
    gpu_watch: GpuWatch | None = None
    track: Track | None = None
    option_id: str = ""  # the ranked change that it tries
    text_checks: tuple[TextCheck, ...] = ()


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
    runtime: str = ""  # id of the runtime that ran the model, "" = only its log tells
    runtime_version: str = ""
    gpu_watch: GpuWatch | None = None
    text_checks: tuple[TextCheck, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()  # of the runtime's environment, those that matter
    notes: tuple[str, ...] = ()  # which steps were not possible, and why
    again: SecondRun | None = None
    history: tuple[BenchRun, ...] = ()  # earlier rates of this model here, from the notebook
    said: Said | None = None  # llama.cpp's own word on a load, and where it differs from ours
    track: Track | None = None  # values over the time in which the runs were measured

    def second(self) -> "Evidence | None":
        """Return what the second run saw as evidence of its own, None when there was none."""
        again = self.again
        if again is None:
            return None
        return replace(
            self,
            request=again.request,
            outcome=again.outcome,
            log=again.log,
            runs=again.runs,
            watch=again.watch,
            gpu_watch=again.gpu_watch,
            track=again.track,
            text_checks=again.text_checks,
            notes=again.notes,
            again=None,
        )
