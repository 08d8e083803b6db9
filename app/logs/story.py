"""Tells the story of each load from a log's events, by the ten rules of reading llama.cpp logs.

Buffer lines beat the offload line. What a trial pass prints is a projection. The cache's lines
of one context add up. A missing line says nothing unless the verbosity is known.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.core.log import BufferKind, Ended, Fact, LoadStory, LogBuffer, LogEvent, Role
from app.logs import buffers, vocabulary
from app.logs.figures import MIB
from app.logs.loads import CAUSES, ROLES, Load, segment
from app.logs.requests import requests

PLACEMENT_VERBOSITY = 4  # common/log.h of build 11434: library INFO is trace since 2026-05

_ADDING = frozenset({Fact.WEIGHTS_BUFFER, Fact.KV_BUFFER, Fact.RS_BUFFER})
_FIT = frozenset(fact for fact in Fact if fact.value.startswith("fit_"))
_RATES = frozenset({Fact.PROMPT_RATE, Fact.GENERATION_RATE})
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
_MODEL_FLAG = re.compile(r"--model (?P<path>[^\s\"]+)")
_HIDDEN = (
    "This log cannot show placement (verbosity {level}): run again with -lv 4 to see where the "
    "weights and the KV cache are"
)
_OF_LLAMA_CPP = frozenset({"llama.cpp", "llama-server", "llama-bench", "Jan"})
_NOTHING_SAID = "This log has no line that says where the weights are"
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


def tell(events: Sequence[LogEvent], n_lines: int) -> Told:
    """Tell the loads that the events, which are in order, make up."""
    found = segment(events)
    ends = [*(load.first_line - 1 for load in found.loads[1:]), n_lines]
    stories = (
        _story(load, max(load.first_line, end))  # two may begin on one line that was redrawn
        for load, end in zip(found.loads, ends, strict=False)
    )
    return Told(found.events, tuple(stories))


def _story(load: Load, last_line: int) -> LoadStory:
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
    program = _said(everything, "program") or (
        "llama-server" if load.is_from_server else "llama.cpp"
    )
    on_device = _on_device(weights) if weights else _by_table(load.breakdown)
    return LoadStory(
        program=program,
        version=_said(everything, "version"),
        engine=_said(everything, "engine"),
        dated=vocabulary.dated(event.text for event in everything),
        build=build if build is not None and build > 1 else None,
        path=load.path or _commanded(load.preamble),
        first_line=load.first_line,
        last_line=last_line,
        devices=_used(events, found),
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
        n_slots=_slots(events),
        n_ctx_train=_value(events, Fact.N_CTX_TRAIN, "n"),
        cache_type_k=_word(context, Fact.KV_SIZE, "type_k"),
        cache_type_v=_word(context, Fact.KV_SIZE, "type_v"),
        flash_attn=_word(events, Fact.FLASH_ATTN, "state"),
        fit=_fit(events),
        rates=tuple(e for e in events if e.fact in _RATES),
        requests=requests(everything),
        errors=errors,
        events=everything,
        breakdown=tuple(load.breakdown),
        projection=tuple(load.projection),
        ended=ended,
        ends_after=_phase(events),
        is_draft=load.is_draft,
        note="" if on_device is not None else _note(load, weights, verbosity, program, errors),
    )


def _buffers(load: Load, names: dict[str, str]) -> tuple[LogBuffer, ...]:
    sums: dict[tuple[int, str, str, Role], LogBuffer] = {}
    for number, group in enumerate([load.weights, *load.contexts]):
        for event in group:
            role = ROLES.get(event.fact)
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
                more = (*known.more_lines, event.line)
                sums[key] = replace(known, n_bytes=known.n_bytes + n_bytes, more_lines=more)
            else:  # reserved anew: the later size is the one that holds
                sums[key] = replace(known, n_bytes=n_bytes, line=event.line)
    merged: dict[tuple[str, Role], LogBuffer] = {}
    for (_number, _by, name, role), buffer in sums.items():
        earlier = merged.get((name, role))
        merged[name, role] = (
            buffer
            if earlier is None
            else replace(
                earlier,
                n_bytes=earlier.n_bytes + buffer.n_bytes,
                more_lines=(*earlier.more_lines, *buffer.lines),
            )
        )
    return tuple(merged.values())


def _used(events: Iterable[LogEvent], found: Iterable[LogBuffer]) -> tuple[str, ...]:
    """Return the devices that a line names as used, else those that hold bytes.

    Builds before 2025 print no line "using device" for Vulkan.
    """
    named = _unique(event.word("device") for event in events if event.fact is Fact.DEVICE_USED)
    holding = (b for b in found if b.kind is BufferKind.DEVICE and b.n_bytes > 0)
    return named or _unique(buffer.device or buffer.name for buffer in holding)


def _on_device(weights: Iterable[LogBuffer]) -> bool | None:
    """Return True only on a device's buffer with bytes in it; None when the log cannot say."""
    filled = [buffer.kind for buffer in weights if buffer.n_bytes > 0]
    if BufferKind.DEVICE in filled:
        return True
    if not filled or BufferKind.UNKNOWN in filled:
        return None
    return False


def _by_table(table: Sequence[LogEvent]) -> bool | None:
    """Return where the weights are by the memory table at exit; None without one."""
    kinds = {event.fact for event in table if event.whole("model") > 0}
    if Fact.BREAKDOWN_DEVICE in kinds:
        return True
    return False if kinds else None


def _slots(events: Iterable[LogEvent]) -> int | None:
    """Return the number of slots; to 2026-04 each is named in a line of its own."""
    said = [event for event in events if event.fact is Fact.N_CTX_SLOT]
    named = _value(said, Fact.N_CTX_SLOT, "slots")
    return named or sum("new slot" in event.text for event in said) or None


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
        if event.fact in CAUSES:
            causes.setdefault(event.text, event)
        elif event.fact is Fact.ERROR_CONSEQUENCE:
            consequences.setdefault(event.text, event)
    return (*causes.values(), *consequences.values())


def _ended(events: Sequence[LogEvent], errors: Sequence[LogEvent]) -> Ended:
    if any(event.fact is Fact.CRASHED for event in events):
        return Ended.CRASHED
    if any(event.fact is Fact.KILLED for event in events):
        return Ended.KILLED
    was_ready = any(event.fact is Fact.LOADED or event.fact in _RATES for event in events)
    if errors and not was_ready:
        return Ended.FAILED
    if any(event.fact is Fact.CLEAN_EXIT for event in events):
        return Ended.CLEAN
    return Ended.OPEN


def _phase(events: Iterable[LogEvent]) -> str:
    phases = [_PHASES[event.fact] for event in events if event.fact in _PHASES]
    return phases[-1] if phases else ""


def _note(
    load: Load,
    weights: Sequence[LogBuffer],
    verbosity: int | None,
    program: str,
    errors: Sequence[LogEvent],
) -> str:
    if (load.path or _commanded(load.preamble)) is None:
        return ""
    unknown = [buffer.name for buffer in weights if buffer.kind is BufferKind.UNKNOWN]
    if unknown:
        return _UNKNOWN.format(names=", ".join(unknown))
    if verbosity is not None and verbosity < PLACEMENT_VERBOSITY:
        return _HIDDEN.format(level=verbosity)
    if errors:
        return ""
    return _NOTHING if program in _OF_LLAMA_CPP else _NOTHING_SAID


def _said(events: Iterable[LogEvent], name: str) -> str:
    """Return what the last line that names the program says of it, "" for nothing."""
    found = [e.word(name) for e in events if e.fact is Fact.PROGRAM and name in e.values]
    return found[-1] if found else ""


def _commanded(preamble: Iterable[LogEvent]) -> str | None:
    """Return the model's path in the last command; Ollama's own engine names it only there."""
    commands = [event.word("argv") for event in preamble if event.fact is Fact.COMMAND]
    found = _MODEL_FLAG.search(commands[-1]) if commands else None
    return found["path"] if found else None


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
