"""Recognises llama-bench output in a text, whatever its format: md, csv, sql, json or jsonl.

Only the JSON forms hold the samples. The others give the mean, which is then the only sample:
such a rate has no interval.
"""

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.core.bench import BenchRun, Test
from app.logs.figures import MIB, size_to_mib

MAX_CHARS = 64 << 20
INSTRUMENT = "llama-bench"

# the columns of the table, and the names that the other formats have for them (tools/llama-bench)
_COLUMNS = {
    "model": "model_filename",
    "ngl": "n_gpu_layers",
    "threads": "n_threads",
    "backend": "backends",
    "fa": "flash_attn",
    "sm": "split_mode",
    "nkvo": "no_kv_offload",
    "dev": "devices",
    "ts": "tensor_split",
    "ncmoe": "n_cpu_moe",
    "ot": "tensor_buft_overrides",
    "lm": "load_mode",
    "nopo": "no_op_offload",
}
_SETTINGS = (
    "n_gpu_layers", "n_threads", "type_k", "type_v", "flash_attn", "n_batch", "n_ubatch",
    "n_cpu_moe", "tensor_buft_overrides", "no_kv_offload", "split_mode", "main_gpu",
    "tensor_split", "devices", "load_mode", "no_op_offload", "gpu_info",
)  # fmt: skip
_NO_OVERRIDES = ("tensor_buft_overrides", "none")  # printed when no tensor was moved by name
_FLASH_ATTN = {"-1": "auto", "0": "off", "1": "on", "false": "off", "true": "on"}
# pp512, tg128 @ d4096; with a space in early 2024. pp8+tg4 mixes two works and is no rate of ours
_TEST = re.compile(r"(?P<kind>pp|tg) ?(?P<n>\d+)(?: @ d(?P<depth>\d+))?\Z")
_BUILD = re.compile(r"build: (?P<commit>\w+) \((?P<number>\d+)\)\s*\Z")
_INSERT = re.compile(r"INSERT INTO \w+ \((?P<names>[^)]*)\) VALUES \((?P<values>.*)\);\s*\Z")
_MEAN = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class BenchOutput:
    """The rates of an output, and in words which rows are left out."""

    runs: tuple[BenchRun, ...]
    skipped: tuple[str, ...] = ()


def read_output(text: str) -> BenchOutput:
    """Return the rates in a text, in order, and what is left out; neither for any other text."""
    runs: list[BenchRun] = []
    skipped: list[str] = []
    if len(text) > MAX_CHARS:
        return BenchOutput((), ("The text is too long",))
    for row in _rows(text, skipped):
        try:
            runs.append(_run(row))
        except ValueError as error:
            skipped.append(str(error))
    return BenchOutput(tuple(runs), tuple(skipped))


def _rows(text: str, skipped: list[str]) -> Iterator[Mapping[str, object]]:
    whole = _json(text) if text.lstrip()[:1] == "[" else None
    if isinstance(whole, list):
        yield from (row for row in whole if isinstance(row, dict))
        return
    lines = text.splitlines()
    build = next((found for line in reversed(lines) if (found := _BUILD.match(line))), None)
    footer = {"build_commit": build["commit"], "build_number": build["number"]} if build else {}
    table: list[str] = []
    columns: list[str] = []
    n_broken = 0
    for line in lines:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if "t/s" in cells:
                table = cells
            elif len(cells) == len(table) and not cells[0].startswith("-"):
                yield footer | {_COLUMNS.get(n, n): c for n, c in zip(table, cells, strict=True)}
        elif line.startswith("build_commit,"):
            columns = line.split(",")
        elif columns and line.startswith('"'):
            yield dict(zip(columns, _split(line, '"'), strict=False))
        elif found := _INSERT.match(line):
            names = found["names"].split(", ")
            yield dict(zip(names, _split(found["values"], "'"), strict=False))
        elif line.startswith("{"):
            row = _json(line)
            if isinstance(row, dict):
                yield row
            else:
                n_broken += 1
    if n_broken:
        skipped.append(f"Lines that are cut or broken: {n_broken}")


def _split(line: str, quote: str) -> list[str]:
    return next(csv.reader([line], quotechar=quote, skipinitialspace=True), [])


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _run(row: Mapping[str, object]) -> BenchRun:
    """Return the rate of a row; ValueError says why there is none."""
    kind, tokens, depth = _test(row)
    samples = _samples(row, tokens)
    name = str(row.get("model_filename", "")).replace("\\", "/").rpartition("/")[2]
    number, commit = _whole(row.get("build_number")), str(row.get("build_commit", ""))
    return BenchRun(
        test=kind,
        n_tokens=tokens,
        samples_tps=samples,
        instrument=INSTRUMENT,
        settings=tuple(
            (name, _shown(name, row))
            for name in _SETTINGS
            if row.get(name) not in ("", None) and (name, row[name]) != _NO_OVERRIDES
        ),
        depth=depth,
        # 0 means built from a source archive
        build=str(number) if number else "" if commit == "unknown" else commit,
        model_name=name,
        model_bytes=_model_bytes(row),
        backends=str(row.get("backends", "")),
        started=str(row.get("test_time", "")),
    )


def _test(row: Mapping[str, object]) -> tuple[Test, int, int]:
    """Return the kind, tokens and depth of a row; a rate that mixes two works is none of ours."""
    if "test" in row:
        found = _TEST.match(str(row["test"]))
        if found is None or not int(found["n"]):
            raise ValueError(f"{row['test']} mixes the two rates, or is none")
        kind = Test.PROMPT if found["kind"] == "pp" else Test.GENERATION
        return kind, int(found["n"]), int(found["depth"] or 0)
    n_prompt, n_gen = _whole(row.get("n_prompt")), _whole(row.get("n_gen"))
    if n_prompt and n_gen:
        raise ValueError(f"pp{n_prompt}+tg{n_gen} mixes the two rates")
    if not n_prompt and not n_gen:
        raise ValueError("a row names no test")
    depth = _whole(row.get("n_depth"))
    return (Test.PROMPT if n_prompt else Test.GENERATION), n_prompt or n_gen, depth


def _samples(row: Mapping[str, object], tokens: int) -> tuple[float, ...]:
    """Return tokens per second of each repetition, from nanoseconds, which are not rounded."""
    if "samples_ns" in row:
        times = row["samples_ns"]
        if not isinstance(times, list) or not times:
            raise ValueError("a row has no samples")
        rates = tuple(tokens * 1e9 / ns for ns in times if type(ns) is int and 0 < ns < 1 << 63)
        if len(rates) != len(times):
            raise ValueError("a row has a sample that is no time")
        return rates
    # "44.19 ± 46.86"; a Windows console may have spoilt the sign between
    found = _MEAN.match(str(row.get("t/s", row.get("avg_ts", ""))))
    mean = float(found[0]) if found else 0.0
    if not 0 < mean < math.inf:
        raise ValueError("a row has no rate")
    return (mean,)


def _model_bytes(row: Mapping[str, object]) -> int | None:
    """Return the model's size; the table rounds it to hundredths of MiB or GiB."""
    if "size" in row:
        try:
            return round(size_to_mib(str(row["size"])) * MIB)
        except ValueError:
            return None
    return _whole(row.get("model_size")) or None


def _shown(name: str, row: Mapping[str, object]) -> str:
    value = row[name]
    if name == "devices" and value == "auto" and row.get("gpu_info") == "":
        # a build without GPU backend, or without a GPU: layers asked for a device go nowhere
        # (get_gpu_info, llama.cpp tools/llama-bench, build 11434)
        return "none"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _FLASH_ATTN.get(text, text) if name == "flash_attn" else text


def _whole(value: object) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
