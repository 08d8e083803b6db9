"""The closed list of what a log line can mean, and the story of each load in a log."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

Value = int | float | str | bool
_NONE: Mapping[str, Value] = MappingProxyType({})


class Fact(Enum):
    """What a line states. Patterns say which fact, rules ask for facts."""

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slow in a scan

    PROGRAM = "program"  # program, version, at: "start" begins a process; engine
    BUILD = "build"  # number, commit
    VERBOSITY = "verbosity"  # level
    COMMAND = "command"  # argv text
    DEVICE_LISTED = "device_listed"  # device, description, total_mib, free_mib; CPU as well
    DEVICE_USED = "device_used"  # device, description, free_mib
    BACKEND_LOADED = "backend_loaded"  # backend, file
    NO_GPU_WARNING = "no_gpu_warning"
    DEVICE_LIMIT = "device_limit"  # n_bytes that the system recommends at most (Metal)
    SOFTWARE_DEVICE = "software_device"
    SYSTEM_INFO = "system_info"  # threads, cores, features
    LOAD_START = "load_start"  # path, kind: "draft" for the model that guesses ahead
    MODEL_FILE = "model_file"  # path, tensors: the header was read; starts a load for libraries
    LOADED = "loaded"  # the program is ready for requests
    DRY_PASS = "dry_pass"  # no_alloc: 1 = the pass that follows allocates nothing
    LOADING_TENSORS = "loading_tensors"  # mode: mmap, none, mlock, dio, true or false
    OFFLOADING_REPEATING = "offloading_repeating"  # n
    OFFLOADING_OUTPUT = "offloading_output"
    OFFLOADED = "offloaded"  # n, m
    WEIGHTS_BUFFER = "weights_buffer"  # buffer, mib
    KV_BUFFER = "kv_buffer"  # buffer, mib
    RS_BUFFER = "rs_buffer"  # buffer, mib
    COMPUTE_BUFFER = "compute_buffer"  # buffer, mib
    OUTPUT_BUFFER = "output_buffer"  # buffer, mib
    KV_SIZE = "kv_size"  # mib, cells, layers, type_k, type_v; two lines for SWA models
    SECOND_CONTEXT = "second_context"  # the next context is one more for the same model (MTP)
    N_CTX = "n_ctx"  # n
    N_CTX_SEQ = "n_ctx_seq"  # n
    N_CTX_SLOT = "n_ctx_slot"  # n, slots
    N_CTX_TRAIN = "n_ctx_train"  # n
    CTX_ABOVE_TRAIN = "ctx_above_train"  # n, train
    CTX_CAPPED = "ctx_capped"  # n, train: the cache is allocated for n, only train is usable
    FLASH_ATTN = "flash_attn"  # state: enabled, disabled or auto
    GRAPH_SPLITS = "graph_splits"  # n
    FIT_PROJECTED = "fit_projected"  # used_mib, free_mib, where: device or host
    FIT_ENOUGH = "fit_enough"  # left_mib, target_mib (neither with several devices)
    FIT_NO_DEVICE = "fit_no_device"  # there is no GPU with memory of its own to fit
    FIT_SHORT = "fit_short"  # need_mib, target_mib (not with several devices)
    FIT_CTX_REDUCED = "fit_ctx_reduced"  # before, after
    FIT_CTX_KEPT = "fit_ctx_kept"  # n
    FIT_DEVICE = "fit_device"  # device, layers, used_mib, free_mib
    FIT_FAILED = "fit_failed"  # reason; setting, value: what was set by hand
    FIT_DONE = "fit_done"
    BREAKDOWN_DEVICE = (
        "breakdown_device"  # device, total, free, self, model, context, compute in MiB
    )
    BREAKDOWN_HOST = "breakdown_host"  # row, self, model, context, compute in MiB
    OVERRIDDEN = "overridden"  # tensor, buffer
    PROMPT_RATE = "prompt_rate"  # ms, n, tps
    GENERATION_RATE = "generation_rate"  # ms, n, tps, unit: runs counts one less than tokens
    DRAFT_ACCEPTANCE = "draft_acceptance"  # rate (0 to 1), accepted, generated
    REQUEST_START = "request_start"  # task
    MEMORY_PRESSURE = "memory_pressure"  # the runtime warns that memory runs out, and goes on
    QUALITY_WARNING = "quality_warning"  # tokenizer or template: the text may be wrong
    ERROR_MEMORY = "error_memory"  # n_bytes, buffer, part: weights, kv or compute; where named
    # limit: the device refuses one buffer of this size, though memory may be free
    ERROR_FILE = "error_file"  # tensor, path where named; why: not-gguf, empty, missing,
    # cut, damaged, newer, older, endian, split or other-tensors
    ERROR_ARCHITECTURE = "error_architecture"  # arch
    ERROR_ARGUMENT = "error_argument"  # flag
    ERROR_NETWORK = "error_network"  # port in use, or an RPC server that does not answer
    ERROR_OTHER = "error_other"  # needs: a setting that has to be on
    ERROR_CONSEQUENCE = "error_consequence"  # repeats an earlier error in other words
    HARMLESS = "harmless"  # looks alarming, is not
    CONTEXT_TRUNCATED = "context_truncated"  # n: tokens of the conversation where it names them;
    # shift: the oldest text was dropped to go on
    REQUEST_TOO_LONG = "request_too_long"  # n, n_ctx where the line names them: refused
    KV_POOL_FULL = "kv_pool_full"  # the slots together want more cells than there are
    PROMPT_REPROCESSED = "prompt_reprocessed"
    BACKEND_FAILED = "backend_failed"  # file: a library of the program that did not load
    GPU_DROPPED = "gpu_dropped"  # description: Ollama leaves this GPU out as an integrated one
    VARIABLE = "variable"  # name, value: of the program's environment; it chooses or hides GPUs
    GPU_LOST = "gpu_lost"  # the driver cannot be reached from here
    GPU_FORBIDDEN = "gpu_forbidden"  # path: this user may not open the GPU
    GPU_NO_KERNELS = "gpu_no_kernels"  # no code for this GPU; arch, capability where named
    OFFLOAD_PLAN = (
        "offload_plan"  # layers, offload, free, required, projector, ... as Ollama prints them
    )
    PROJECTOR_MEMORY = "projector_memory"  # mib: what the vision part will take
    TENSOR_REFUSED = "tensor_refused"  # tensor, type, others, preferred: the device that refused
    PROMPT_CACHE = "prompt_cache"  # prompts, mib, limit_mib: texts kept in system memory
    KV_CONVERTED = "kv_converted"  # the cache's types have no kernel and are converted
    DRAFT_MAX = "draft_max"  # n: tokens that are guessed ahead at once
    VLLM_MEMORY = "vllm_memory"  # kind: length, no-space or utilisation; asked, stored where named
    VLLM_EAGER = "vllm_eager"  # state: True or False
    FREE_MEMORY = "free_memory"  # mib that are free, total where named; of: gpu or system
    TOTAL_MEMORY = "total_memory"  # mib in all, of: gpu
    CTX_CHOSEN = "ctx_chosen"  # n: tokens of context that the program chose by itself
    LAYERS_CHOSEN = "layers_chosen"  # n: layers for the GPU that the program chose by itself
    BENCH_TABLE = "bench_table"  # depth: True when the rows below name the depth (csv)
    BENCH_ROW = "bench_row"  # n_prompt, n_gen, depth, tps, stddev: a row of llama-bench
    SETTING_IGNORED = "setting_ignored"  # what: a setting that does not take effect
    VOCAB_ONLY = "vocab_only"  # the header was read for its words; no load
    PROMPT_SIZE = "prompt_size"  # n: tokens of a request's prompt
    PROMPT_CACHED = "prompt_cached"  # n: tokens of it that the cache held
    RATE_SHOWN = "rate_shown"  # kind: mixed, sum, running or uncounted; tps, prompt_tps
    KV_CAPACITY = "kv_capacity"  # n: tokens that the cache of all requests holds (vLLM)
    PEAK_MEMORY = "peak_memory"  # n_bytes
    KILLED = "killed"  # by the system, which was out of memory, or by somebody
    CLEAN_EXIT = "clean_exit"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Sample:
    """A line that a build really printed, and the values a pattern takes from it."""

    build: str
    line: str
    values: Mapping[str, Value] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """How one dialect states one fact."""

    fact: Fact
    keys: tuple[str, ...]  # literal words; one of them must occur
    regex: re.Pattern[str]
    types: Mapping[str, Callable[[str], Value]] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    is_wrapper: bool = False  # looks at what stands before the text, on each line of a program
    may_break: bool = False  # a console breaks this line at its width, or it fills several lines


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One line that states a fact; line counts from 1, text is without prefix and colours."""

    fact: Fact
    line: int
    text: str
    values: Mapping[str, Value] = field(default_factory=lambda: _NONE)
    is_projection: bool = False  # said in a trial run that allocated nothing
    n_lines: int = 1  # more when a console broke the line at its width

    def whole(self, name: str) -> int:
        """Return a value that is a whole number; KeyError means a wrong pattern."""
        return int(self.values[name])

    def number(self, name: str) -> float:
        """Return a value as a float."""
        return float(self.values[name])

    def word(self, name: str) -> str:
        """Return a value as text."""
        return str(self.values[name])


@dataclass(frozen=True, slots=True)
class Found:
    """The lines of a log that hold a text, from 1; is_all is False when there are more.

    n_hard are the lines on which a pattern needed too many steps: whether they match is unknown.
    """

    text: str
    lines: tuple[int, ...]
    is_all: bool = True
    n_hard: int = 0


class BufferKind(Enum):
    """Where a buffer's bytes are; an unknown name stays unknown."""

    DEVICE = "device"
    HOST = "host"
    UNKNOWN = "unknown"


class Role(Enum):
    """What a buffer holds."""

    WEIGHTS = "weights"
    KV = "kv"
    COMPUTE = "compute"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class LogBuffer:
    """A buffer the log names; n_bytes is the sum over the lines of this load."""

    name: str
    kind: BufferKind
    role: Role
    n_bytes: int
    line: int  # the first of its lines
    device: str | None = None  # as the log lists it; RPC buffers are joined by endpoint
    more_lines: tuple[int, ...] = ()  # further lines whose sizes are in the sum

    @property
    def lines(self) -> tuple[int, ...]:
        """Return all lines that make up the sum, in order."""
        return (self.line, *self.more_lines)


class Ended(Enum):
    """How a load ended, as far as the log shows."""

    CLEAN = "clean"
    FAILED = "failed"
    CRASHED = "crashed"
    KILLED = "killed"
    OPEN = "open"  # the log simply stops


@dataclass(frozen=True, slots=True)
class Request:
    """One request that a log tells of; None = the log does not say."""

    line: int  # the first of its lines
    task: int | None = None
    n_prompt: int | None = None  # tokens of the prompt
    n_cached: int | None = None  # of them, those that needed no reading
    prompt: LogEvent | None = None  # its two rates
    generation: LogEvent | None = None
    draft: LogEvent | None = None
    is_reread: bool = False  # the cache was there and could not be used
    is_truncated: bool = False
    is_refused: bool = False
    n_shifts: int = 0  # how often old text was dropped


@dataclass(frozen=True, slots=True)
class LoadStory:
    """What one load in a log did; None = this log does not show it."""

    program: str = "llama.cpp"
    version: str = ""  # the program's own, where it is not a build of llama.cpp
    engine: str = ""  # what computes inside the program, where the log names it
    dated: str = ""  # when the program was made, by its words; "" when nothing tells
    build: int | None = None  # None also for 0 and 1, which self-built programs print
    path: str | None = None
    first_line: int = 1
    last_line: int = 1
    devices: tuple[str, ...] = ()  # those the model loader used
    devices_listed: tuple[str, ...] | None = None  # CPU not among them; None = no list printed
    verbosity: int | None = None
    offload_line: tuple[int, int] | None = None
    buffers: tuple[LogBuffer, ...] = ()
    weights_on_device: bool | None = None
    n_ctx: int | None = None
    n_ctx_slot: int | None = None
    n_slots: int | None = None
    n_ctx_train: int | None = None
    cache_type_k: str | None = None
    cache_type_v: str | None = None
    flash_attn: str | None = None
    fit: tuple[LogEvent, ...] = ()
    rates: tuple[LogEvent, ...] = ()
    requests: tuple[Request, ...] = ()
    errors: tuple[LogEvent, ...] = ()  # the cause first
    events: tuple[LogEvent, ...] = ()
    breakdown: tuple[LogEvent, ...] = ()  # the table printed at exit, () when there is none
    projection: tuple[LogEvent, ...] = ()  # the fit step's last table
    ended: Ended = Ended.OPEN
    ends_after: str = ""  # the last thing the load was seen doing
    is_draft: bool = False  # the small model that guesses ahead for the load before it
    note: str = ""  # for example: this log cannot show placement, run again with -lv 4

    def event(self, fact: Fact) -> LogEvent | None:
        """Return the last event of a fact within this load."""
        return next((event for event in reversed(self.events) if event.fact is fact), None)

    @property
    def used_devices(self) -> tuple[str, ...]:
        """Return the devices that have a buffer, by name."""
        used = (b for b in self.buffers if b.kind is BufferKind.DEVICE and b.n_bytes)
        return tuple(dict.fromkeys(b.device or b.name for b in used))

    @property
    def is_device_computing(self) -> bool:
        """Tell whether a device has a compute buffer: long prompts go there also with -ngl 0."""
        return self.bytes_of(BufferKind.DEVICE, Role.COMPUTE) > 0

    def device_weight_bytes(self) -> int:
        """Return the weights in device buffers, in bytes."""
        return self._sum(BufferKind.DEVICE, Role.WEIGHTS)

    def bytes_of(self, kind: BufferKind, role: Role) -> int:
        """Return the sum of the buffers of one kind and role, in bytes."""
        return self._sum(kind, role)

    def _sum(self, kind: BufferKind, role: Role) -> int:
        return sum(b.n_bytes for b in self.buffers if b.kind is kind and b.role is role)


@dataclass(frozen=True, slots=True)
class LogSummary:
    """All that a log says: its events in order, and the story of each load."""

    name: str
    n_lines: int
    events: tuple[LogEvent, ...] = ()
    loads: tuple[LoadStory, ...] = ()
    n_bytes: int = 0
    n_dropped: int = 0  # events beyond the limit per fact; the first and the last are kept
    damage: str = ""  # why the file could not be read to its end, "" when it was

    def all(self, fact: Fact) -> tuple[LogEvent, ...]:
        """Return the events of a fact, in order."""
        return tuple(event for event in self.events if event.fact is fact)

    def last(self, fact: Fact) -> LogEvent | None:
        """Return the last event of a fact."""
        return next((event for event in reversed(self.events) if event.fact is fact), None)

    def load_at(self, line: int) -> LoadStory | None:
        """Return the load that a line belongs to, None before the first."""
        return next(
            (load for load in reversed(self.loads) if load.first_line <= line <= load.last_line),
            None,
        )

    @property
    def load(self) -> LoadStory | None:
        """Return the last load that is no draft model's, the one a user usually asks about."""
        main = [load for load in self.loads if not load.is_draft]
        return main[-1] if main else None
