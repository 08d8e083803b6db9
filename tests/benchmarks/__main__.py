"""Prints the speed targets with what is reached: `python -m tests.benchmarks [PEER_PYTHON]`.

PEER_PYTHON is an interpreter that has `gguf` and `gguf-inspect` of PyPI; without it those rows are
left out. Nothing fails here: on a busy machine a figure is late, not wrong.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import real_programs
from tests.benchmarks import test_plan_speed as plan

# each runs in an interpreter of its own: the fewest seconds of computing, and the most memory that
# the process ever had after the first read less what it had before (VmHWM, in KiB)
_PROGRAM = """
import sys, time
def held():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
{load}
before = held()
times = []
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    kept = read(sys.argv[1])
    times.append(time.process_time() - start)
    if len(times) == 1:
        grown = held() - before
print(min(times), grown)
"""
_OWN = "from app.gguf.model import read_model as read"
_READER = "from gguf import GGUFReader as read"
_INSPECT = """
import gguf_inspect
def read(path):
    return gguf_inspect.parse_gguf(path, array_limit=6)
"""


def main(arguments: list[str]) -> int:
    """Print one line per target."""
    for what, reached, target in (*_headers(arguments), *_plans()):
        print(f"{what:64} {reached:>22}   target {target}")
    return 0


def _headers(arguments: list[str]) -> Iterator[tuple[str, str, str]]:
    path = real_programs.gemma()
    own_s, own_kib = _measured(sys.executable, _OWN, path)
    yield "header of 262,144 words: own time, memory", f"{own_s * 1000:.1f} ms, {own_kib} KiB", "-"
    if not arguments:
        return
    inspect_s, inspect_kib = _measured(arguments[0], _INSPECT, path)
    text = f"{inspect_s * 1000:.1f} ms, {inspect_kib} KiB"
    yield "the same by gguf-inspect", text, "-"
    yield "own time over gguf-inspect's", f"{own_s / inspect_s:.2f} times", "at most 1"
    reader_s, reader_kib = _measured(arguments[0], _READER, path, rounds=1)  # many seconds each
    yield "the same by gguf.GGUFReader", f"{reader_s * 1000:.0f} ms, {reader_kib} KiB", "-"
    yield "GGUFReader's memory over own", f"{reader_kib / own_kib:.0f} times", "at least 20"


def _plans() -> Iterator[tuple[str, str, str]]:
    for what in ("layers", "experts"):
        name = f"slider of {what}, 94 blocks of experts, 1,131 tensors: median"
        yield name, f"{plan.median_move(what):.2f} ms", f"{plan.MOVE_MS} ms"
    rounds = [plan.first_and_all()[:2] for _ in range(5)]
    first_ms, all_ms = (min(times) for times in zip(*rounds, strict=True))
    yield "fit table, first three rows", f"{first_ms:.0f} ms", f"{plan.FIRST_ROWS_MS} ms"
    yield "fit table, 36 rows of 8 contexts", f"{all_ms:.0f} ms", f"{plan.TABLE_MS} ms"


def _measured(python: str, load: str, path: Path, *, rounds: int = 9) -> tuple[float, int]:
    done = subprocess.run(
        [python, "-c", _PROGRAM.format(load=load), str(path), str(rounds)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, kib = done.stdout.split()
    return float(seconds), max(int(kib), 1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
