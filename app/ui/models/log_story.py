"""The story of a log's last load as texts: a pure function of what the log says."""

import re
from collections.abc import Iterable

from app.core import log_words, units
from app.core.log import (
    BufferKind,
    Ended,
    Fact,
    LoadStory,
    LogBuffer,
    LogEvent,
    LogSummary,
    Role,
)
from app.ui.widgets.story_card import Story, StoryCell, StoryTone

_NOT_SHOWN = "not in this log"
_HOST_SUM = (
    "Sizes as the log names them. Buffers of the system memory may hold the same bytes twice, "
    "and a mapped one is a span of the file, so they do not add up."
)


def story_of(log: LogSummary) -> Story:
    """Return what the card above a log shows."""
    load = log.load
    if load is None:
        return Story(
            "This log tells of no model load",
            StoryTone.QUIET,
            note="Marked are the lines known here. The lines of a load are in the log that "
            "the runtime writes when it starts.",
        )
    headline, tone = _headline(load)
    cells: tuple[StoryCell, ...] = (
        _asked(load),
        _memory(load, Role.WEIGHTS, "Weights"),
        _memory(load, Role.KV, "KV cache", _cache_types(load)),
        _memory(load, Role.COMPUTE, "Compute buffers"),
        _context(load),
        _ended(load),
    )
    if load.ended in (Ended.FAILED, Ended.CRASHED):
        known = tuple(cell for cell in cells if not cell.is_missing)
        cells = known if len(known) > 1 else ()  # that it ended so is in the headline
    parts = (log_words.program(load), _model(load), _which(log, load), log_words.age(load))
    title = " · ".join(part for part in parts if part)
    return Story(headline, tone, title=title, cells=cells, note=_note(log, load))


def subtitle(log: LogSummary, path: str) -> str:
    """Return what the log is, for the title line."""
    parts = [log.name or path, units.lines(log.n_lines)]
    if log.n_bytes:
        parts.append(units.size(log.n_bytes))
    if log.damage:
        parts.append(log.damage)
    return " · ".join(parts)


def most_telling(log: LogSummary) -> int | None:
    """Return the line to look at first: the cause of a failure, else where the bytes are."""
    load = log.load
    if load is None:
        return log.events[0].line if log.events else None
    if load.errors and load.ended in (Ended.FAILED, Ended.CRASHED):
        return load.errors[0].line
    weights = [buffer for buffer in load.buffers if buffer.role is Role.WEIGHTS]
    on_device = [buffer for buffer in weights if buffer.kind is BufferKind.DEVICE]
    if weights:
        return (on_device or weights)[0].line
    verbosity = load.event(Fact.VERBOSITY)
    return verbosity.line if load.note and verbosity is not None else load.first_line


def _headline(load: LoadStory) -> tuple[str, StoryTone]:
    if load.ended is Ended.FAILED:
        why = log_words.explain(load.errors[0], load) if load.errors else ""
        return f"The load failed. {why}".rstrip(), StoryTone.ERROR
    if load.ended is Ended.CRASHED:
        last = f". Last seen: {load.ends_after}" if load.ends_after else ""
        return f"The program crashed{last}", StoryTone.ERROR
    if load.weights_on_device is None:
        return "Where the weights are does not show in this log", StoryTone.QUIET
    if not load.weights_on_device:
        claims = load.offload_line is not None and load.offload_line[0] > 0
        text = "No weights are on a device: the CPU computes every layer"
        # without a device in the log it is no fault: all layers are asked for by default
        tone = StoryTone.WARNING if load.devices_listed or load.devices else StoryTone.QUIET
        return (f"{text}, though layers were asked for" if claims else text), tone
    devices = _names(_of(load, Role.WEIGHTS, BufferKind.DEVICE))
    n, m = load.offload_line or (0, 0)
    if n < m:
        return f"Part of the weights is on {devices}", StoryTone.WARNING
    return f"The weights are on {devices}", StoryTone.GOOD


def _note(log: LogSummary, load: LoadStory) -> str:
    notes = []
    if load.errors and load.ended is not Ended.CLEAN:
        first = load.errors[0]
        notes.append(f"Line {units.count(first.line)}: {_sentence(first.text)}")
    if load.note:
        notes.append(_sentence(load.note))
    if load.weights_on_device is False and load.offload_line is not None:
        n, m = load.offload_line
        notes.append(
            f"“offloaded {n}/{m}” only repeats the request. The buffer lines say what happened."
        )
    if any(r.is_reread or r.is_truncated or r.is_refused or r.n_shifts for r in load.requests):
        notes.append(f"{log_words.requests(load)}.")
    if log.n_dropped:
        notes.append(
            f"{units.count(log.n_dropped)} repeated lines in the middle are not in the list."
        )
    return " ".join(notes)


def _model(load: LoadStory) -> str:
    return re.split(r"[\\/]", load.path)[-1] if load.path else ""


def _which(log: LogSummary, load: LoadStory) -> str:
    count = len(log.loads)
    return f"load {log.loads.index(load) + 1} of {count}" if count > 1 else ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _asked(load: LoadStory) -> StoryCell:
    caption = "Layers asked for"
    if load.offload_line is None:
        return StoryCell(caption, _NOT_SHOWN, "", is_missing=True)
    n, m = load.offload_line
    moved = [event for event in load.fit if event.fact is Fact.FIT_DEVICE]
    detail = "as llama.cpp's fit chose" if moved else "a request, not what happened"
    return StoryCell(caption, f"{n} of {m}", detail, _line(load.event(Fact.OFFLOADED)))


def _memory(load: LoadStory, role: Role, caption: str, kind: str = "") -> StoryCell:
    device = _of(load, role, BufferKind.DEVICE)
    other = _of(load, role, BufferKind.HOST, BufferKind.UNKNOWN)
    found = (*device, *other)
    if not found:
        return StoryCell(caption, _NOT_SHOWN, "", is_missing=True)
    host = ", ".join(f"{buffer.name} {units.size(buffer.n_bytes)}" for buffer in other)
    details = [f"in system memory: {host}" if host else "none in system memory", kind]
    if any(buffer.kind is BufferKind.UNKNOWN for buffer in other):
        details[0] = f"elsewhere, unknown: {host}"
    if device:
        value = ", ".join(
            f"{units.size(buffer.n_bytes)} on {buffer.device or buffer.name}" for buffer in device
        )
    else:
        value = "none on a device"
    detail = " · ".join(detail for detail in details if detail)
    return StoryCell(caption, value, detail, found[0].line, source=_HOST_SUM if other else "")


def _context(load: LoadStory) -> StoryCell:
    n = load.n_ctx if load.n_ctx is not None else load.n_ctx_slot
    if n is None:
        return StoryCell("Context", _NOT_SHOWN, "", is_missing=True)
    details = []
    reduced = load.event(Fact.FIT_CTX_REDUCED)
    if reduced is not None:
        details.append(f"fit cut it from {units.count(reduced.whole('before'))}")
    if load.n_ctx_slot is not None and load.n_ctx_slot != n:
        details.append(f"{units.count(load.n_ctx_slot)} per request")
    if load.n_ctx_train is not None:
        details.append(f"trained for {units.count(load.n_ctx_train)}")
    if load.n_slots is not None and load.n_slots > 1:
        details.append(f"{load.n_slots} slots")
    event = load.event(Fact.N_CTX) or load.event(Fact.N_CTX_SLOT)
    return StoryCell("Context", f"{units.count(n)} tokens", " · ".join(details), _line(event))


def _ended(load: LoadStory) -> StoryCell:
    value = {
        Ended.CLEAN: "cleanly",
        Ended.FAILED: "with an error",
        Ended.CRASHED: "with a crash",
        Ended.KILLED: "ended from outside",
        Ended.OPEN: "not in this log",
    }[load.ended]
    detail = f"last seen: {load.ends_after}" if load.ends_after else ""
    if load.ended is Ended.OPEN:
        detail += ". It runs on, crashed, or was killed" if detail else ""
    line = load.errors[0].line if load.errors else load.last_line
    return StoryCell("Ended", value, detail, line)


def _cache_types(load: LoadStory) -> str:
    types = (load.cache_type_k, load.cache_type_v)
    if None in types:
        return ""
    return str(types[0]) if types[0] == types[1] else f"K {types[0]}, V {types[1]}"


def _of(load: LoadStory, role: Role, *kinds: BufferKind) -> tuple[LogBuffer, ...]:
    return tuple(b for b in load.buffers if b.role is role and b.kind in kinds and b.n_bytes)


def _names(buffers: Iterable[LogBuffer]) -> str:
    return ", ".join(dict.fromkeys(buffer.device or buffer.name for buffer in buffers))


def _line(event: LogEvent | None) -> int | None:
    return event.line if event is not None else None
