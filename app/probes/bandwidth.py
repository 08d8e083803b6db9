"""Measures how fast system memory is read, in a process of its own; prints one JSON line.

Runs as a file by itself (`python bandwidth.py --threads 8 ...`), so it imports nothing of the
application. The largest of int32 values: it releases the GIL, has SIMD code of its own in numpy
and no BLAS; of eleven such reductions it came nearest to a C loop (docs/bandwidth.md).
"""

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLAG = "--measure-bandwidth"
SLICE_BYTES = 16 << 20
LEAST_BYTES, MOST_BYTES = 256 << 20, 2 << 30
_FILL_S, _MEASURE_S = 1.2, 1.0  # with the start of Python under 3 s in all
_LEAST_REPETITIONS, _MOST_REPETITIONS = 3, 64
# one run of a thread got less than 1 / 1.15 of its time from the processor: others were at work
_BUSY = 1.15


def buffer_bytes(l3_bytes: int, available_bytes: int) -> int:
    """Return how much to read: four times the last cache, at most 2 GiB or 1/4 of what is free."""
    return max(SLICE_BYTES, min(max(LEAST_BYTES, 4 * l3_bytes), MOST_BYTES, available_bytes // 4))


def main(arguments: list[str]) -> int:
    """Measure and print the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--l3", type=int, default=0)
    parser.add_argument("--available", type=int, default=4 << 30)
    options = parser.parse_args(arguments)
    wanted = buffer_bytes(options.l3, options.available)
    result = measure(max(1, min(options.threads, 512)), wanted, options.l3)
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


def measure(n_threads: int, wanted_bytes: int, l3_bytes: int = 0) -> dict[str, object]:
    """Return the rates of each repetition in bytes per second, by the clock and by CPU time."""
    import numpy as np  # not loaded by those who only look for probes in this folder

    share = max(SLICE_BYTES, wanted_bytes // n_threads // SLICE_BYTES * SLICE_BYTES)
    arrays: list[list[NDArray[np.int32]]] = [[] for _ in range(n_threads)]
    deadline = time.perf_counter() + _FILL_S

    def fill(index: int) -> None:
        # the thread that reads a page touches it first, so that it lies on its own NUMA node
        for _ in range(share // SLICE_BYTES):
            part = np.empty(SLICE_BYTES // 4, dtype=np.int32)
            part.fill(index + 1)
            arrays[index].append(part)
            if time.perf_counter() > deadline:
                break

    _together(n_threads, fill)
    total = sum(part.nbytes for parts in arrays for part in parts)
    walls: list[float] = []
    cpus: list[float] = []

    def read(index: int) -> None:
        for part in arrays[index]:
            part.max()

    read_in = _Timed(n_threads, read)
    read_in.once()  # warms up: the first pass also pays for page tables and clocks
    end = time.perf_counter() + _MEASURE_S
    while len(walls) < _LEAST_REPETITIONS or (
        time.perf_counter() < end and len(walls) < _MOST_REPETITIONS
    ):
        wall_s, cpu_s = read_in.once()
        walls.append(total / wall_s)
        if cpu_s > 0:  # Windows counts a thread's time in steps of 15.6 ms
            cpus.append(total / cpu_s)
    return {
        "threads": n_threads,
        "buffer_bytes": total,
        "is_cache": total < 4 * l3_bytes,
        "rates_bps": [round(rate) for rate in walls],
        "cpu_rates_bps": [round(rate) for rate in cpus],
        "is_busy": bool(cpus) and _median(cpus) > _BUSY * _median(walls),
        "has_huge_pages": sys.platform == "linux"
        and os.environ.get("NUMPY_MADVISE_HUGEPAGE", "1") != "0",
    }


class _Timed:
    """Runs a function in threads that start together, and times the slowest."""

    def __init__(self, n_threads: int, work: Callable[[int], None]) -> None:
        self._n, self._work = n_threads, work

    def once(self) -> tuple[float, float]:
        """Return seconds from the first start to the last end, and the most CPU time of one."""
        barrier = threading.Barrier(self._n)
        starts, ends, cpus = [0.0] * self._n, [0.0] * self._n, [0.0] * self._n

        def run(index: int) -> None:
            barrier.wait()
            starts[index] = time.perf_counter()
            used = time.thread_time()
            self._work(index)
            cpus[index] = time.thread_time() - used
            ends[index] = time.perf_counter()

        _together(self._n, run)
        return max(ends) - min(starts), max(cpus)


def _together(n_threads: int, run: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=run, args=(index,)) for index in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
