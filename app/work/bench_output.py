"""Reads saved outputs of llama-bench in any of its formats, and its lines while it runs."""

from pathlib import Path

from app.core.bench import BenchRun
from app.core.errors import UserError
from app.logs.bench_output import BenchOutput, read_output

FILE_LIMIT_BYTES = 64 << 20


def read_file(path: Path) -> BenchOutput:
    """Read a saved output of llama-bench; UserError when it holds no rates."""
    with path.open("rb") as file:
        data = file.read(FILE_LIMIT_BYTES + 1)
    if len(data) > FILE_LIMIT_BYTES:
        raise UserError(f"{path.name} is too large for an output of llama-bench")
    output = read_output(data.decode("utf-8", "replace"))
    if not output.runs:
        raise UserError(
            f"{path.name} holds no rates that can be compared",
            "; ".join(output.skipped) or "It has no rows of llama-bench",
            "Run llama-bench again with -o jsonl.",
        )
    return output


def parse_line(line: str) -> BenchRun | None:
    """Read one line of -o jsonl; None when it holds no rate."""
    output = read_output(line)
    return output.runs[0] if output.runs else None
