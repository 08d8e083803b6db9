"""What a log tells, as aligned text for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence

from app.cli.plan_text import columns
from app.core import units
from app.core.log import BufferKind, Ended, Fact, LoadStory, LogEvent, LogSummary, Role
from app.core.log_words import (
    FEW_GENERATED_TOKENS,
    FEW_PROMPT_TOKENS,
    Weight,
    age,
    explain,
    program,
    requests,
    weight,
)

_WIDTH = 96
_WHERE = {
    BufferKind.DEVICE: "device",
    BufferKind.HOST: "system memory",
    BufferKind.UNKNOWN: "unknown",
}
_HOLDS = {
    Role.WEIGHTS: "weights",
    Role.KV: "KV cache",
    Role.COMPUTE: "compute",
    Role.OUTPUT: "output",
}
_ENDED = {
    Ended.CLEAN: "The program ended by itself.",
    Ended.FAILED: "The load failed.",
    Ended.CRASHED: "The program crashed.",
    Ended.KILLED: "The program was ended from outside.",
    Ended.OPEN: "The log stops; how the program ended is not in it.",
}
_MAX_SHOWN = 40  # lines of a kind; a server that ran for months repeats itself
_MAX_RATES = 12
_MAX_AGAIN = 8


def log_text(summary: LogSummary) -> str:
    """Return the story of each load, then the lines that point to a fault."""
    lines = [_head(summary)]
    for number, load in enumerate(summary.loads, 1):
        lines += ["", *_load(load, number, len(summary.loads))]
    if not summary.loads:
        lines += ["", *_no_load(summary)]
    lines += _faults(summary)
    return "\n".join(lines) + "\n"


def _head(summary: LogSummary) -> str:
    parts = [units.lines(summary.n_lines), units.size(summary.n_bytes)]
    if summary.damage:
        parts.append(summary.damage)
    if summary.n_dropped:
        parts.append(f"{units.count(summary.n_dropped)} repeated lines not kept")
    return f"{summary.name}: {', '.join(parts)}"


def _no_load(summary: LogSummary) -> Iterator[str]:
    yield "This log tells of no model load."
    if not summary.events:
        yield from _wrap("No line of it is known here: it may be of another program.", "")


def _load(load: LoadStory, number: int, total: int) -> Iterator[str]:
    name = (load.path or "").replace("\\", "/").rpartition("/")[2]
    what = " (draft model)" if load.is_draft else ""
    lines = f"lines {load.first_line} to {load.last_line}"
    yield f"Load {number} of {total}, {lines}: {name or 'no model is named'}{what}"
    yield from _wrap(_headline(load))
    if load.note and load.ended is not Ended.FAILED:
        yield from _wrap(f"{load.note}.")
    yield ""
    yield from (f"  {line}" for line in columns(list(_rows(load)), left=2))
    if load.buffers:
        yield ""
        yield from _buffers(load)
    if load.fit:
        yield ""
        yield "  What llama.cpp's own fit did"
        for event in load.fit:
            yield from _event(event, load)
    if load.rates:
        yield ""
        yield from _rates(load)
    yield ""
    after = f" Last seen: {load.ends_after}." if load.ends_after else ""
    yield f"  {_ENDED[load.ended]}{after}"


def _headline(load: LoadStory) -> str:
    if load.ended in (Ended.FAILED, Ended.CRASHED) and load.errors:
        what = "The load failed" if load.ended is Ended.FAILED else "The program crashed"
        cause = load.errors[0]
        return f"{what}: {explain(cause, load)} (line {cause.line})"
    if load.weights_on_device is None:
        return "Where the weights are does not show in this log."
    if load.weights_on_device:
        names = dict.fromkeys(
            buffer.device or buffer.name
            for buffer in load.buffers
            if buffer.kind is BufferKind.DEVICE and buffer.role is Role.WEIGHTS and buffer.n_bytes
        )
        size = units.size(load.device_weight_bytes())
        return f"Weights on a device: {size} on {', '.join(names)}."
    text = "No weights are on a device: the CPU computes every layer"
    if load.offload_line is not None and load.offload_line[0] > 0:
        n, m = load.offload_line
        return f"{text}, though the log says offloaded {n}/{m}, which only repeats the request."
    return f"{text}."


def _rows(load: LoadStory) -> Iterator[tuple[str, str]]:
    yield "program", " ".join(filter(None, (program(load), age(load))))
    if load.devices_listed is not None:
        yield "devices listed", ", ".join(load.devices_listed) or "none"
    yield "devices used", ", ".join(load.devices) or "none named"
    if load.offload_line is not None:
        yield "layers asked for", f"{load.offload_line[0]} of {load.offload_line[1]}"
    yield "context", _context(load)
    if load.cache_type_k is not None:
        yield "cache types", f"K {load.cache_type_k}, V {load.cache_type_v or units.UNKNOWN}"
    if load.flash_attn is not None:
        yield "flash attention", load.flash_attn
    if load.requests:
        yield "requests", requests(load)


def _context(load: LoadStory) -> str:
    parts = []
    if load.n_ctx is not None:
        parts.append(f"{units.count(load.n_ctx)} tokens")
    if load.n_ctx_slot is not None:
        slots = f" in {load.n_slots} slots" if load.n_slots and load.n_slots > 1 else ""
        parts.append(f"{units.count(load.n_ctx_slot)} per request{slots}")
    if load.n_ctx_train is not None:
        parts.append(f"trained for {units.count(load.n_ctx_train)}")
    return ", ".join(parts) or "not in this log"


def _buffers(load: LoadStory) -> Iterator[str]:
    rows = [("buffer", "where", "holds", "line", "size")]
    rows += [
        (
            buffer.name,
            _WHERE[buffer.kind],
            _HOLDS[buffer.role],
            str(buffer.line),
            units.mib(buffer.n_bytes),
        )
        for buffer in load.buffers
    ]
    yield from (f"  {line}" for line in columns(rows, left=3))


def _rates(load: LoadStory) -> Iterator[str]:
    rows = [("rate", "tokens", "line", "")]
    for event in load.rates[-_MAX_RATES:]:
        is_prompt = event.fact is Fact.PROMPT_RATE
        n = event.whole("n")
        few = FEW_PROMPT_TOKENS if is_prompt else FEW_GENERATED_TOKENS
        rate = f"{'prompt' if is_prompt else 'generation'} {units.rate(event.number('tps'))}"
        short = "too few tokens to mean much" if n < few else ""
        rows.append((rate, units.count(n), str(event.line), short))
    yield from (f"  {line}" for line in columns(rows))
    left_out = len(load.rates) - _MAX_RATES
    if left_out > 0:
        yield f"  {units.count(left_out)} earlier ones are in --json"


def _faults(summary: LogSummary) -> Iterator[str]:
    found = [event for event in summary.events if weight(event) is Weight.FAULT]
    if not found:
        return
    yield ""
    yield "Lines that point to a fault"
    same: dict[str, list[LogEvent]] = {}
    for event in found:
        same.setdefault(event.text, []).append(event)
    for events in list(same.values())[:_MAX_SHOWN]:
        yield from _event(events[0], summary.load_at(events[0].line), events[1:])
    if len(same) > _MAX_SHOWN:
        yield f"  {units.count(len(same) - _MAX_SHOWN)} more are in --json"


def _event(
    event: LogEvent, load: LoadStory | None, again: Sequence[LogEvent] = ()
) -> Iterator[str]:
    yield f"  {event.line:>6}  {event.text[:_WIDTH]}{'…' if len(event.text) > _WIDTH else ''}"
    yield from _wrap(explain(event, load), "          ")
    if again:
        lines = ", ".join(str(one.line) for one in again[:_MAX_AGAIN])
        more = ", …" if len(again) > _MAX_AGAIN else ""
        yield f"          also in line {lines}{more}"


def _wrap(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
