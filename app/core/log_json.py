"""The machine-readable reading of a log (schema slowscope.log/1), as product.md's contract says."""

import re
import shlex
from itertools import pairwise

from app import product
from app.core.log import Fact, LoadStory, LogBuffer, LogEvent, LogSummary, Request
from app.core.log_words import FEW_GENERATED_TOKENS, FEW_PROMPT_TOKENS, explain, weight
from app.core.reading import Kind
from app.core.units import MIB

SCHEMA = product.schema("log")
# what a command asks for, by the field's name here (llama-server --help, builds 2023 to 11434)
_ASKED = {
    "ngl": ("-ngl", "--gpu-layers", "--n-gpu-layers"),
    "ctx": ("-c", "--ctx-size"),
    "batch": ("-b", "--batch-size"),
    "ubatch": ("-ub", "--ubatch-size"),
    "parallel": ("-np", "--parallel"),
    "threads": ("-t", "--threads"),
    "cache_type_k": ("-ctk", "--cache-type-k"),
    "cache_type_v": ("-ctv", "--cache-type-v"),
    "flash_attn": ("-fa", "--flash-attn"),
}
# what other programs call it, as name=value or as "name":value
_ELSEWHERE = {
    "ngl": re.compile(r"\b(?:gpulayers=|ngl\"? ?: ?)(-?\d+)"),  # KoboldCpp, Jan
    "ctx": re.compile(r"\b(?:contextsize=|ctx_len\"? ?: ?)(\d+)"),
    "batch": re.compile(r"\b(?:blas)?batchsize=(\d+)"),
    "threads": re.compile(r"\b(?<!blas)(?:threads=|cpu_threads\"? ?: ?)(\d+)"),
}
_WORDS = frozenset({"cache_type_k", "cache_type_v", "flash_attn"})


def log_json(summary: LogSummary) -> dict[str, object]:
    """Return the log's reading as the JSON object that `log --json` prints."""
    return {
        "schema": SCHEMA,
        "name": summary.name,
        "lines": summary.n_lines,
        "bytes": summary.n_bytes,
        "damage": summary.damage,
        "events_left_out": summary.n_dropped,
        "loads": [_load(load) for load in summary.loads],
        "events": [_event(event, summary) for event in summary.events],
    }


def _load(load: LoadStory) -> dict[str, object]:
    return {
        "program": load.program,
        "version": load.version or None,
        "engine": load.engine or None,
        "build": load.build,
        "dated": load.dated or None,
        "model": load.path,
        "is_draft": load.is_draft,
        "first_line": load.first_line,
        "last_line": load.last_line,
        "verbosity": load.verbosity,
        "devices": _devices(load),
        "asked": _asked(load),
        "offload_line": list(load.offload_line) if load.offload_line else None,
        "buffers": [_buffer(buffer) for buffer in load.buffers],
        "weights_on_device": load.weights_on_device,
        "n_ctx": load.n_ctx,
        "n_ctx_slot": load.n_ctx_slot,
        "n_slots": load.n_slots,
        "n_ctx_train": load.n_ctx_train,
        "cache_type_k": load.cache_type_k,
        "cache_type_v": load.cache_type_v,
        "flash_attn": load.flash_attn,
        "fit": [_line(event) for event in load.fit],
        "rates": [_rate(event) for event in load.rates],
        "requests": [_request(request) for request in load.requests],
        "breakdown": [_row(event) for event in load.breakdown],
        "projection": [_row(event) for event in load.projection],
        "errors": [
            _line(event) | {"is_cause": event.fact is not Fact.ERROR_CONSEQUENCE}
            for event in load.errors
        ],
        "ended": load.ended.value,
        "ends_after": load.ends_after,
        "note": load.note,
    }


def _devices(load: LoadStory) -> list[dict[str, object]]:
    """Return the devices that were listed or used; None for what no line says."""
    found: dict[str, dict[str, object]] = {}
    for event in load.events:
        if event.fact not in (Fact.DEVICE_LISTED, Fact.DEVICE_USED):
            continue
        name = event.word("device")
        device = found.setdefault(
            name,
            {"name": name, "description": "", "total_bytes": None, "free_bytes": None},
        )
        device["description"] = event.values.get("description", "")
        for key, value in (("total_bytes", "total_mib"), ("free_bytes", "free_mib")):
            if value in event.values:
                device[key] = event.whole(value) * MIB
        device["is_used"] = name in load.devices
        device["source"] = _source(event)
    return list(found.values())


def _asked(load: LoadStory) -> dict[str, object]:
    """Return what the log says was asked for; None where it does not say."""
    asked: dict[str, object] = dict.fromkeys(_ASKED)
    for event in load.events:
        if event.fact is Fact.COMMAND:
            asked |= _from_argv(event.word("argv"))
        elif event.fact is Fact.FIT_CTX_KEPT and "set by user" in event.text:
            asked["ctx"] = event.whole("n")
        elif event.fact is Fact.FIT_FAILED:
            before, _, ngl = event.text.partition("n_gpu_layers already set by user to ")
            figure = ngl.split(",")[0]
            if before and figure.lstrip("-").isdigit():
                asked["ngl"] = int(figure)
    return asked


def _from_argv(argv: str) -> dict[str, object]:
    if argv.startswith(("Namespace(", "{")):
        matches = {name: form.search(argv) for name, form in _ELSEWHERE.items()}
        return {name: int(match[1]) for name, match in matches.items() if match}
    try:
        words = shlex.split(argv)
        if len(words) == 1:  # Ollama quotes the whole command
            words = shlex.split(words[0])
    except ValueError:  # a quote that is not closed: the line was cut
        words = argv.split()
    found: dict[str, object] = {}
    for word, following in pairwise(words):
        for name, flags in _ASKED.items():
            if word in flags and name in _WORDS:
                found[name] = "on" if following.startswith("-") else following
            elif word in flags and following.lstrip("-").isdigit():
                found[name] = int(following)
    return found


def _buffer(buffer: LogBuffer) -> dict[str, object]:
    return {
        "name": buffer.name,
        "kind": buffer.kind.value,
        "role": buffer.role.value,
        "bytes": buffer.n_bytes,
        "line": buffer.line,
        "device": buffer.device,
        "source": f"log line {buffer.line}",
    }


def _rate(event: LogEvent) -> dict[str, object]:
    is_prompt = event.fact is Fact.PROMPT_RATE
    n_tokens = event.whole("n")
    few = FEW_PROMPT_TOKENS if is_prompt else FEW_GENERATED_TOKENS
    return {
        "test": "prompt" if is_prompt else "generation",
        "n_tokens": n_tokens,
        "ms": event.number("ms"),
        "tps": {
            "value": event.number("tps"),
            "low": None,  # one request has no interval
            "high": None,
            "source": _source(event),
            "kind": Kind.MEASURED.value,
        },
        "is_too_short": n_tokens < few,
        "line": event.line,
    }


def _request(request: Request) -> dict[str, object]:
    return {
        "line": request.line,
        "task": request.task,
        "n_prompt": request.n_prompt,
        "n_cached": request.n_cached,
        "prompt_line": request.prompt.line if request.prompt else None,
        "generation_line": request.generation.line if request.generation else None,
        "is_reread": request.is_reread,
        "is_truncated": request.is_truncated,
        "is_refused": request.is_refused,
        "n_shifts": request.n_shifts,
    }


def _row(event: LogEvent) -> dict[str, object]:
    """Return a row of a memory breakdown; the log prints whole MiB, cut off."""
    parts = ("total", "free", "self", "model", "context", "compute")
    sizes = {f"{part}_bytes": event.whole(part) * MIB for part in parts if part in event.values}
    name = event.values.get("device", event.values.get("row"))
    return {"name": name, **sizes, "source": _source(event)}


def _line(event: LogEvent) -> dict[str, object]:
    return {
        "fact": event.fact.value,
        "line": event.line,
        "n_lines": event.n_lines,
        "text": event.text,
        "values": dict(event.values),
    }


def _event(event: LogEvent, summary: LogSummary) -> dict[str, object]:
    return _line(event) | {
        "weight": weight(event).value,
        "is_projection": event.is_projection,
        "means": explain(event, summary.load_at(event.line)),
    }


def _source(event: LogEvent) -> str:
    return f"log line {event.line}"
