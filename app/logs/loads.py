"""Cuts a log's events into processes and loads, and keeps trial runs apart from what happened."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.core.log import Fact, LogEvent, Role

ROLES = {
    Fact.WEIGHTS_BUFFER: Role.WEIGHTS,
    Fact.KV_BUFFER: Role.KV,
    Fact.RS_BUFFER: Role.KV,
    Fact.COMPUTE_BUFFER: Role.COMPUTE,
    Fact.OUTPUT_BUFFER: Role.OUTPUT,
}
CAUSES = frozenset(
    {
        Fact.ERROR_MEMORY,
        Fact.ERROR_FILE,
        Fact.ERROR_ARCHITECTURE,
        Fact.ERROR_ARGUMENT,
        Fact.ERROR_NETWORK,
        Fact.ERROR_OTHER,
        Fact.VLLM_MEMORY,
    }
)
_ERRORS = frozenset({*CAUSES, Fact.ERROR_CONSEQUENCE, Fact.CRASHED, Fact.KILLED})
_BREAKDOWN = frozenset({Fact.BREAKDOWN_DEVICE, Fact.BREAKDOWN_HOST})
# one of these begins a new process; at the default verbosity the last is the first that is printed
_PROCESS = frozenset({Fact.BUILD, Fact.COMMAND, Fact.VERBOSITY, Fact.OFFLOAD_PLAN})
# said once by a server that starts another process for each load, as Ollama does
_OF_THE_KEEPER = frozenset({Fact.PROGRAM, Fact.GPU_DROPPED, Fact.VARIABLE, Fact.CTX_CHOSEN})
# said by the server, not by the load of the draft model that came last
_OF_THE_SERVER = frozenset(
    {
        *_BREAKDOWN,
        Fact.N_CTX_SLOT,
        Fact.CTX_CAPPED,
        Fact.LOADED,
        Fact.REQUEST_START,
        Fact.REQUEST_TOO_LONG,
        Fact.PROMPT_RATE,
        Fact.GENERATION_RATE,
        Fact.DRAFT_ACCEPTANCE,
        Fact.CONTEXT_TRUNCATED,
        Fact.PROMPT_REPROCESSED,
        Fact.PROMPT_CACHE,
        Fact.KV_POOL_FULL,
        Fact.PROMPT_SIZE,
        Fact.PROMPT_CACHED,
        Fact.RATE_SHOWN,
        Fact.KILLED,
        Fact.PROGRAM,
        Fact.SECOND_CONTEXT,
        Fact.CLEAN_EXIT,
    }
)
# said once by a process, before its loads
_PREAMBLE = frozenset(
    {
        Fact.PROGRAM,
        Fact.FREE_MEMORY,
        Fact.TOTAL_MEMORY,
        Fact.CTX_CHOSEN,
        Fact.LAYERS_CHOSEN,
        Fact.BENCH_TABLE,
        Fact.BENCH_ROW,
        Fact.SETTING_IGNORED,
        Fact.RATE_SHOWN,
        Fact.PEAK_MEMORY,
        Fact.VOCAB_ONLY,
        Fact.KILLED,
        Fact.BUILD,
        Fact.VERBOSITY,
        Fact.COMMAND,
        Fact.DEVICE_LISTED,
        Fact.BACKEND_LOADED,
        Fact.BACKEND_FAILED,
        Fact.GPU_DROPPED,
        Fact.GPU_LOST,
        Fact.VARIABLE,
        Fact.GPU_NO_KERNELS,
        Fact.GPU_FORBIDDEN,
        Fact.OFFLOAD_PLAN,
        Fact.PROJECTOR_MEMORY,
        Fact.VLLM_EAGER,
        Fact.DEVICE_LIMIT,
        Fact.NO_GPU_WARNING,
        Fact.SYSTEM_INFO,
        Fact.SOFTWARE_DEVICE,
        Fact.HARMLESS,
        Fact.REQUEST_START,
        Fact.QUALITY_WARNING,
        Fact.CLEAN_EXIT,
        Fact.LOADED,
    }
)
# a pass prints these, and a trial pass prints them without allocating
_OF_A_PASS = frozenset(
    {
        *ROLES,
        Fact.LOADING_TENSORS,
        Fact.OFFLOADING_REPEATING,
        Fact.OFFLOADING_OUTPUT,
        Fact.OFFLOADED,
        Fact.OVERRIDDEN,
        Fact.KV_SIZE,
        Fact.N_CTX,
        Fact.N_CTX_SEQ,
        Fact.GRAPH_SPLITS,
        Fact.DEVICE_USED,
    }
)


_ANSWERS = frozenset({Fact.PROMPT_RATE, Fact.GENERATION_RATE})
_OF_A_CACHE = frozenset({Fact.KV_BUFFER, Fact.RS_BUFFER, Fact.KV_SIZE, Fact.COMPUTE_BUFFER})


@dataclass(slots=True)
class Load:
    """A load while its events come in."""

    first_line: int
    preamble: tuple[LogEvent, ...] = ()
    path: str | None = None
    is_draft: bool = False
    is_dry: bool = False
    is_placed: bool = False  # a pass that allocates has begun
    is_second: bool = False
    is_vocab_only: bool = False  # the file was read for its words
    is_from_server: bool = False
    events: list[LogEvent] = field(default_factory=list)
    weights: list[LogEvent] = field(default_factory=list)
    contexts: list[list[LogEvent]] = field(default_factory=list)
    breakdown: list[LogEvent] = field(default_factory=list)
    projection: list[LogEvent] = field(default_factory=list)

    def take(self, event: LogEvent) -> LogEvent:
        """Add an event; return it, marked when it is a projection."""
        fact = event.fact
        if fact is Fact.DRY_PASS:
            self.is_dry = event.values.get("no_alloc") == 1
        elif fact is Fact.VOCAB_ONLY:
            self.is_vocab_only = not self.is_placed
        elif fact is Fact.MODEL_FILE:
            self.path = self.path or event.word("path")
        is_trial = self.is_dry and fact in _OF_A_PASS
        if is_trial or (fact in _BREAKDOWN and not self.is_placed):
            event = replace(event, is_projection=True)
        elif fact is Fact.LOADING_TENSORS:
            self.is_placed = True
            self.weights.clear()
            self.contexts.clear()
        elif fact in _ANSWERS:  # what is printed from here on is no projection
            self.is_placed = True
        self.events.append(event)
        if event.is_projection:
            if fact in _BREAKDOWN:
                _add_row(self.projection, event)
            return event
        self._place(event)
        return event

    def _place(self, event: LogEvent) -> None:
        fact = event.fact
        if fact is Fact.WEIGHTS_BUFFER:
            self.is_placed = True
            self.weights.append(event)
        elif fact is Fact.SECOND_CONTEXT:
            self.is_second = True
        elif fact is Fact.N_CTX and self.contexts and not self.is_second:
            if any(one.fact in _OF_A_CACHE for one in self.contexts[-1]):
                self.contexts[-1:] = [[event]]  # llama-bench makes one context after the other
            else:  # KoboldCpp names the size twice
                self.contexts[-1].append(event)
        elif fact is Fact.N_CTX:
            self.contexts.append([event])
            self.is_second = False
        elif fact in ROLES or fact in (Fact.KV_SIZE, Fact.FLASH_ATTN, Fact.GRAPH_SPLITS):
            if not self.contexts:
                self.contexts.append([])
            self.contexts[-1].append(event)
        elif fact in _BREAKDOWN:
            _add_row(self.breakdown, event)


def _add_row(table: list[LogEvent], event: LogEvent) -> None:
    """Add a row; a new table replaces the one before."""
    if table and event.line - table[-1].line > 1:
        table.clear()
    table.append(event)


@dataclass(frozen=True, slots=True)
class Segments:
    """The events, with their projections marked, and the loads they make up."""

    events: tuple[LogEvent, ...]
    loads: tuple[Load, ...]


def segment(events: Sequence[LogEvent]) -> Segments:
    """Cut the events, which are in order, into loads."""
    marked: list[LogEvent] = []
    loads: list[Load] = []
    preamble: list[LogEvent] = []
    current: Load | None = None
    for event in events:
        is_process = event.fact in _PROCESS or event.values.get("at") == "start"
        if is_process or (current is None and event.fact in _PREAMBLE):
            if is_process and current is not None:
                if not current.is_vocab_only:
                    preamble = [kept for kept in preamble if _outlives(kept, event)]
                current = None
            preamble.append(event)
            marked.append(event)
            continue
        if current is None or _starts(current, event):
            current = Load(event.line, tuple(preamble))
            loads.append(current)
        if event.text.startswith(("srv ", "slot ")) and not current.is_draft:
            current.is_from_server = True
        if event.fact is Fact.LOAD_START:
            current.path = event.word("path")
            current.is_draft = event.values.get("kind") == "draft"
        elif current.is_draft and event.fact in _OF_THE_SERVER:
            current = _main(loads) or current
        marked.append(current.take(event))
        if current.is_draft and event.fact in _ERRORS and (main := _main(loads)):
            main.events.append(event)  # a draft model that fails ends the server
    return Segments(tuple(marked), tuple(load for load in loads if not load.is_vocab_only))


def _outlives(said: LogEvent, start: LogEvent) -> bool:
    """Tell whether a line holds for the next process as well."""
    if start.fact is Fact.PROGRAM:
        return False  # the server itself begins anew
    # Ollama's list of devices names their library; a list of llama.cpp is printed again
    is_listed = said.fact is Fact.DEVICE_LISTED and "library" in said.values
    return said.fact in _OF_THE_KEEPER or is_listed


def _main(loads: Sequence[Load]) -> Load | None:
    return next((load for load in reversed(loads) if not load.is_draft), None)


def _starts(load: Load, event: LogEvent) -> bool:
    if event.fact is Fact.LOAD_START:
        return bool(load.path) or load.is_placed
    if event.fact is Fact.MODEL_FILE:
        # the fit pass and the load read the same header; another file is another model
        return load.is_placed and bool(
            load.contexts or (load.path and load.path != event.word("path"))
        )
    return False
