"""Tells the story of each load from a log's events, by the ten rules of reading llama.cpp logs.

Buffer lines beat the offload line. What a trial pass prints is a projection. The cache's lines
of one context add up. A missing line says nothing unless the verbosity is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from app.core.log import (
    BufferKind,
    Ended,
    Fact,
    LoadStory,
    LogBuffer,
    LogEvent,
    Role,
)
from app.logs import buffers
from app.logs.figures import MIB

PLACEMENT_VERBOSITY = 4  # common/log.h of build 11434: library INFO is trace since 2026-05

_ROLES = {
    Fact.WEIGHTS_BUFFER: Role.WEIGHTS,
    Fact.KV_BUFFER: Role.KV,
    Fact.RS_BUFFER: Role.KV,
    Fact.COMPUTE_BUFFER: Role.COMPUTE,
    Fact.OUTPUT_BUFFER: Role.OUTPUT,
}
_ADDING = frozenset({Fact.WEIGHTS_BUFFER, Fact.KV_BUFFER, Fact.RS_BUFFER})
_BREAKDOWN = frozenset({Fact.BREAKDOWN_DEVICE, Fact.BREAKDOWN_HOST})
_FIT = frozenset(fact for fact in Fact if fact.value.startswith("fit_"))
_CAUSES = frozenset(
    {
        Fact.ERROR_MEMORY,
        Fact.ERROR_FILE,
        Fact.ERROR_ARCHITECTURE,
        Fact.ERROR_ARGUMENT,
        Fact.ERROR_NETWORK,
        Fact.ERROR_OTHER,
    }
)
_ERRORS = frozenset({*_CAUSES, Fact.ERROR_CONSEQUENCE, Fact.CRASHED})
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
        Fact.KV_POOL_FULL,
        Fact.SECOND_CONTEXT,
        Fact.CLEAN_EXIT,
    }
)
# said once by a process, before its loads
_PREAMBLE = frozenset(
    {
        Fact.BUILD,
        Fact.VERBOSITY,
        Fact.COMMAND,
        Fact.DEVICE_LISTED,
        Fact.BACKEND_LOADED,
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
        *_ROLES,
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
_PHASES = {
    Fact.LOAD_START: "starting to load the model",
    Fact.MODEL_FILE: "reading the file's header",
    Fact.FIT_PROJECTED: "estimating the memory",
    Fact.FIT_DONE: "estimating the memory",
    Fact.LOADING_TENSORS: "loading the weights",
    Fact.WEIGHTS_BUFFER: "loading the weights",
    Fact.N_CTX: "creating the context",
    Fact.KV_BUFFER: "creating the KV cache",
    Fact.COMPUTE_BUFFER: "reserving the compute buffers",
    Fact.N_CTX_SLOT: "starting the slots",
    Fact.LOADED: "the program was ready",
    Fact.REQUEST_START: "starting to answer a request",
    Fact.PROMPT_RATE: "answering a request",
    Fact.GENERATION_RATE: "answering a request",
}
_HIDDEN = (
    "This log cannot show placement (verbosity {level}): run again with -lv 4 to see where the "
    "weights and the KV cache are"
)
_NOTHING = (
    "This log has no line that says where the weights are: run again with -lv 4 (or --verbose in "
    "builds before May 2026)"
)
_UNKNOWN = "The log names weights buffers that are not known to be device or system memory: {names}"


@dataclass(frozen=True, slots=True)
class Told:
    """The events with their projections marked, and the loads."""

    events: tuple[LogEvent, ...]
    loads: tuple[LoadStory, ...]


@dataclass(slots=True)
class _Load:
    """A load while its events come in."""

    first_line: int
    preamble: tuple[LogEvent, ...] = ()
    path: str | None = None
    is_draft: bool = False
    is_dry: bool = False
    is_placed: bool = False  # a pass that allocates has begun
    is_second: bool = False
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
        elif fact is Fact.MODEL_FILE:
            self.path = self.path or event.word("path")
        is_trial = self.is_dry and fact in _OF_A_PASS
        if is_trial or (fact in _BREAKDOWN and not self.is_placed):
            event = replace(event, is_projection=True)
        elif fact is Fact.LOADING_TENSORS:
            self.is_placed = True
            self.weights.clear()
            self.contexts.clear()
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
            self.contexts[-1:] = [[event]]  # llama-bench makes one context after the other
        elif fact is Fact.N_CTX:
            self.contexts.append([event])
            self.is_second = False
        elif fact in _ROLES or fact in (Fact.KV_SIZE, Fact.FLASH_ATTN, Fact.GRAPH_SPLITS):
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


def tell(events: Sequence[LogEvent], n_lines: int) -> Told:
    """Segment the events, which are in order, into loads."""
    told: list[LogEvent] = []
    loads: list[_Load] = []
    preamble: list[LogEvent] = []
    current: _Load | None = None
    for event in events:
        is_process = event.fact in (Fact.BUILD, Fact.COMMAND)
        if is_process or (current is None and event.fact in _PREAMBLE):
            if is_process and current is not None:
                preamble.clear()
                current = None
            preamble.append(event)
            told.append(event)
            continue
        if current is None or _starts(current, event):
            current = _Load(event.line, tuple(preamble))
            loads.append(current)
        if event.fact is Fact.LOAD_START:
            current.path = event.word("path")
            current.is_draft = event.values.get("kind") == "draft"
            current.is_from_server = not current.is_draft
        elif current.is_draft and event.fact in _OF_THE_SERVER:
            current = _main(loads) or current
        told.append(current.take(event))
        if current.is_draft and event.fact in _ERRORS and (main := _main(loads)):
            main.events.append(event)  # a draft model that fails ends the server
    ends = [*(load.first_line - 1 for load in loads[1:]), n_lines]
    return Told(
        tuple(told), tuple(_story(load, end) for load, end in zip(loads, ends, strict=False))
    )


def _main(loads: Sequence[_Load]) -> _Load | None:
    return next((load for load in reversed(loads) if not load.is_draft), None)


def _starts(load: _Load, event: LogEvent) -> bool:
    if event.fact is Fact.LOAD_START:
        return bool(load.path) or load.is_placed
    if event.fact is Fact.MODEL_FILE:
        # the fit pass and the load read the same header; another file is another model
        return load.is_placed and bool(
            load.contexts or (load.path and load.path != event.word("path"))
        )
    return False


def _story(load: _Load, last_line: int) -> LoadStory:
    events = tuple(load.events)
    everything = load.preamble + events
    listed = [event for event in everything if event.fact is Fact.DEVICE_LISTED]
    names = {
        event.word("device"): event.word("description")
        for event in everything
        if event.fact in (Fact.DEVICE_LISTED, Fact.DEVICE_USED)
    }
    found = _buffers(load, names)
    weights = [buffer for buffer in found if buffer.role is Role.WEIGHTS]
    context = [event for context in load.contexts for event in context]
    errors = _errors(events)
    ended = _ended(events, errors)
    verbosity = _value(everything, Fact.VERBOSITY, "level")
    build = _value(everything, Fact.BUILD, "number")
    on_device = _on_device(weights)
    return LoadStory(
        program="llama-server" if load.is_from_server else "llama.cpp",
        build=build if build is not None and build > 1 else None,
        path=load.path,
        first_line=load.first_line,
        last_line=last_line,
        devices=_unique(event.word("device") for event in events if event.fact is Fact.DEVICE_USED),
        devices_listed=_unique(
            event.word("device") for event in listed if not buffers.is_host(event.word("device"))
        )
        if listed
        else None,
        verbosity=verbosity,
        offload_line=_offload(events),
        buffers=found,
        weights_on_device=on_device,
        n_ctx=_value(context, Fact.N_CTX, "n"),
        n_ctx_slot=_value(events, Fact.N_CTX_SLOT, "n"),
        n_slots=_value(events, Fact.N_CTX_SLOT, "slots"),
        n_ctx_train=_value(events, Fact.N_CTX_TRAIN, "n"),
        cache_type_k=_word(context, Fact.KV_SIZE, "type_k"),
        cache_type_v=_word(context, Fact.KV_SIZE, "type_v"),
        flash_attn=_word(events, Fact.FLASH_ATTN, "state"),
        fit=_fit(events),
        rates=tuple(e for e in events if e.fact in (Fact.PROMPT_RATE, Fact.GENERATION_RATE)),
        errors=errors,
        events=everything,
        breakdown=tuple(load.breakdown),
        projection=tuple(load.projection),
        ended=ended,
        ends_after=_phase(events),
        is_draft=load.is_draft,
        note=_note(load, on_device, weights, verbosity, errors),
    )


def _buffers(load: _Load, names: dict[str, str]) -> tuple[LogBuffer, ...]:
    sums: dict[tuple[int, str, str, Role], LogBuffer] = {}
    for number, group in enumerate([load.weights, *load.contexts]):
        for event in group:
            role = _ROLES.get(event.fact)
            if role is None:
                continue
            name, n_bytes = event.word("buffer"), round(event.number("mib") * MIB)
            kind, device = buffers.classify(name, names)
            # an image projector prints compute buffers of its own, by another function
            key = (number, str(event.values.get("by", "")), name, role)
            known = sums.get(key)
            if known is None:
                sums[key] = LogBuffer(name, kind, role, n_bytes, event.line, device)
            elif event.fact in _ADDING:
                sums[key] = replace(known, n_bytes=known.n_bytes + n_bytes)
            else:  # reserved anew: the later size is the one that holds
                sums[key] = replace(known, n_bytes=n_bytes, line=event.line)
    merged: dict[tuple[str, Role], LogBuffer] = {}
    for (_number, _by, name, role), buffer in sums.items():
        earlier = merged.get((name, role))
        merged[name, role] = (
            buffer
            if earlier is None
            else replace(earlier, n_bytes=earlier.n_bytes + buffer.n_bytes)
        )
    return tuple(merged.values())


def _on_device(weights: Iterable[LogBuffer]) -> bool | None:
    """Return True only on a device's buffer with bytes in it; None when the log cannot say."""
    filled = [buffer.kind for buffer in weights if buffer.n_bytes > 0]
    if BufferKind.DEVICE in filled:
        return True
    if not filled or BufferKind.UNKNOWN in filled:
        return None
    return False


def _offload(events: Iterable[LogEvent]) -> tuple[int, int] | None:
    found = [e for e in events if e.fact is Fact.OFFLOADED]
    return (found[-1].whole("n"), found[-1].whole("m")) if found else None


def _fit(events: Iterable[LogEvent]) -> tuple[LogEvent, ...]:
    """Return the decision lines; of the trial lines per device only the last."""
    chosen = [event for event in events if event.fact in _FIT]
    last = {event.word("device"): event for event in chosen if event.fact is Fact.FIT_DEVICE}
    return tuple(
        event
        for event in chosen
        if event.fact is not Fact.FIT_DEVICE or last[event.word("device")] is event
    )


def _errors(events: Iterable[LogEvent]) -> tuple[LogEvent, ...]:
    """Return each error once, causes in order before their consequences."""
    causes: dict[str, LogEvent] = {}
    consequences: dict[str, LogEvent] = {}
    for event in events:
        if event.fact in _CAUSES:
            causes.setdefault(event.text, event)
        elif event.fact is Fact.ERROR_CONSEQUENCE:
            consequences.setdefault(event.text, event)
    return (*causes.values(), *consequences.values())


def _ended(events: Sequence[LogEvent], errors: Sequence[LogEvent]) -> Ended:
    if any(event.fact is Fact.CRASHED for event in events):
        return Ended.CRASHED
    loaded = next((event.line for event in events if event.fact is Fact.LOADED), None)
    if any(loaded is None or error.line < loaded for error in errors):
        return Ended.FAILED
    if any(event.fact is Fact.CLEAN_EXIT for event in events):
        return Ended.CLEAN
    return Ended.OPEN


def _phase(events: Iterable[LogEvent]) -> str:
    phases = [_PHASES[event.fact] for event in events if event.fact in _PHASES]
    return phases[-1] if phases else ""


def _note(
    load: _Load,
    on_device: bool | None,
    weights: Sequence[LogBuffer],
    verbosity: int | None,
    errors: Sequence[LogEvent],
) -> str:
    if on_device is not None or load.path is None:
        return ""
    unknown = [buffer.name for buffer in weights if buffer.kind is BufferKind.UNKNOWN]
    if unknown:
        return _UNKNOWN.format(names=", ".join(unknown))
    if verbosity is not None and verbosity < PLACEMENT_VERBOSITY:
        return _HIDDEN.format(level=verbosity)
    return "" if errors else _NOTHING


def _value(events: Iterable[LogEvent], fact: Fact, name: str) -> int | None:
    """Return a fact's last value of a name, projections apart."""
    found = [
        event.whole(name)
        for event in events
        if event.fact is fact and name in event.values and not event.is_projection
    ]
    return found[-1] if found else None


def _word(events: Iterable[LogEvent], fact: Fact, name: str) -> str | None:
    found = [event.word(name) for event in events if event.fact is fact and name in event.values]
    return found[-1] if found else None


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
