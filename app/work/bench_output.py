"""Reads what llama-bench prints with -o jsonl or -o json into rates with their samples."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.bench import BenchRun, Test
from app.core.errors import UserError

FILE_LIMIT_BYTES = 64 << 20
INSTRUMENT = "llama-bench"

# the settings of a run, by the names that llama-bench gives them; older builds lack some
# (logs.md section 5: read by name, tolerate missing and new ones)
_SETTINGS = (
    "n_gpu_layers", "n_threads", "type_k", "type_v", "flash_attn", "n_batch", "n_ubatch",
    "n_cpu_moe", "no_kv_offload", "split_mode", "main_gpu", "tensor_split", "devices",
    "load_mode", "no_op_offload", "gpu_info",
)  # fmt: skip
_FLASH_ATTN = {"-1": "auto", "0": "off", "1": "on", "false": "off", "true": "on"}


@dataclass(frozen=True, slots=True)
class BenchOutput:
    """The rates of an output, and in words which rows are left out."""

    runs: tuple[BenchRun, ...]
    skipped: tuple[str, ...] = ()


def read_file(path: Path) -> BenchOutput:
    """Read a saved output of llama-bench; UserError when it holds no rates with samples."""
    with path.open("rb") as file:
        data = file.read(FILE_LIMIT_BYTES + 1)
    if len(data) > FILE_LIMIT_BYTES:
        raise UserError(f"{path.name} is too large for an output of llama-bench")
    output = parse(data.decode("utf-8", "replace"))
    if not output.runs:
        raise UserError(
            f"{path.name} holds no rates that can be compared",
            "; ".join(output.skipped) or "It has no rows with the samples of each repetition",
            "Run llama-bench again with -o jsonl.",
        )
    return output


def parse(text: str) -> BenchOutput:
    """Read all rows of a JSON or JSON lines output; lines of other kinds are counted."""
    runs: list[BenchRun] = []
    skipped: list[str] = []
    for row in _rows(text, skipped):
        try:
            runs.append(_run(row))
        except ValueError as error:
            skipped.append(str(error))
    return BenchOutput(tuple(runs), tuple(skipped))


def parse_line(line: str) -> BenchRun | None:
    """Read one line of -o jsonl; None when it holds no rate."""
    output = parse(line)
    return output.runs[0] if output.runs else None


def _rows(text: str, skipped: list[str]) -> Iterator[dict[str, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(text, skipped)
        return
    for row in whole if isinstance(whole, list) else [whole]:
        if isinstance(row, dict):
            yield row


def _lines(text: str, skipped: list[str]) -> Iterator[dict[str, Any]]:
    strange = 0
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            strange += bool(line.strip())
            continue
        if isinstance(row, dict):
            yield row
    if strange:
        skipped.append(f"{strange} lines are not JSON")


def _run(row: dict[str, Any]) -> BenchRun:
    n_prompt, n_gen = _whole(row, "n_prompt"), _whole(row, "n_gen")
    if n_prompt and n_gen:
        # a rate over both mixes two different works (logs.md section 5)
        raise ValueError(f"pp{n_prompt}+tg{n_gen} mixes the two rates")
    if not n_prompt and not n_gen:
        raise ValueError("a row names no test")
    tokens = n_prompt or n_gen
    return BenchRun(
        test=Test.PROMPT if n_prompt else Test.GENERATION,
        n_tokens=tokens,
        samples_tps=_samples(row, tokens),
        instrument=INSTRUMENT,
        settings=_settings(row),
        depth=_whole(row, "n_depth"),
        build=_build(row),
        model_name=Path(_text(row, "model_filename").replace("\\", "/")).name,
        model_bytes=_whole(row, "model_size") or None,
        backends=_text(row, "backends"),
        started=_text(row, "test_time"),
    )


def _samples(row: dict[str, Any], tokens: int) -> tuple[float, ...]:
    """Return tokens per second of each repetition, from nanoseconds, which are not rounded."""
    times = row.get("samples_ns")
    if not isinstance(times, list) or not times:
        raise ValueError("a row has no samples")
    rates = tuple(
        tokens * 1e9 / time
        for time in times
        if isinstance(time, int | float) and not isinstance(time, bool) and time > 0
    )
    if len(rates) != len(times) or not all(map(math.isfinite, rates)):
        raise ValueError("a row has a sample that is no time")
    return rates


def _settings(row: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    given = ((name, row[name]) for name in _SETTINGS if name in row)
    return tuple((name, _shown(row, name)) for name, value in given if value not in ("", None))


def _shown(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if name == "devices" and value == "auto" and row.get("gpu_info") == "":
        # a build without GPU backend, or without a GPU: layers asked for a device go nowhere
        # (get_gpu_info, llama.cpp tools/llama-bench, build 11434)
        return "none"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _FLASH_ATTN.get(text, text) if name == "flash_attn" else text


def _build(row: dict[str, Any]) -> str:
    """Return the build's number, else its commit; 0 means built from a source archive."""
    number, commit = _whole(row, "build_number"), _text(row, "build_commit")
    if number:
        return str(number)
    return "" if commit == "unknown" else commit


def _whole(row: dict[str, Any], field: str) -> int:
    value = row.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(row: dict[str, Any], field: str) -> str:
    value = row.get(field)
    return value if isinstance(value, str) else ""
