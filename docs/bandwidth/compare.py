"""Compare the program's bandwidth figure with a C read loop: interleaved pairs, ratio and interval.

Run from the repository on a quiet computer: python docs/bandwidth/compare.py [--pairs 12]
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPT = HERE.parent.parent / "app" / "probes" / "bandwidth.py"
BYTES = 256 << 20
REPETITIONS = 12
# two-sided 95 % of Student's t, by degrees of freedom; from 30 on it is nearly the normal one
T_95 = {3: 3.18, 5: 2.57, 7: 2.36, 9: 2.26, 11: 2.20, 15: 2.13, 19: 2.09, 29: 2.05}


def python_rates(*, huge: bool) -> tuple[float, float]:
    """Return the median rates by the clock and by CPU time, bytes per second."""
    env = dict(os.environ, NUMPY_MADVISE_HUGEPAGE="1" if huge else "0")
    words = [sys.executable, "-P", str(SCRIPT), "--threads", "1", "--available", str(4 * BYTES)]
    found = json.loads(subprocess.run(words, env=env, capture_output=True, check=True).stdout)
    return statistics.median(found["rates_bps"]), statistics.median(found["cpu_rates_bps"])


def c_rates(program: Path, *, huge: bool) -> tuple[float, float]:
    """Return the same of the C loop."""
    words = [str(program), str(BYTES), str(REPETITIONS), "1" if huge else "0"]
    lines = subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()
    return statistics.median(map(float, lines[::2])), statistics.median(map(float, lines[1::2]))


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """Return the geometric mean of the pairs' ratios and its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    t = next((T_95[n] for n in sorted(T_95, reverse=True) if n <= len(logs) - 1), 3.18)
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def main() -> int:
    """Build the loop, measure in turn, print the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=12)
    pairs = max(4, parser.parse_args().pairs)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "read_loop"
        flags = ["-O3", "-march=native", "-funroll-loops"]
        subprocess.run(["cc", *flags, str(HERE / "read_loop.c"), "-o", str(program)], check=True)
        for huge in (True, False):
            walls, cpus, rates = [], [], []
            for number in range(pairs):
                # each goes first in every second pair: a drift of the machine favours neither
                if number % 2:
                    theirs = c_rates(program, huge=huge)
                    ours = python_rates(huge=huge)
                else:
                    ours = python_rates(huge=huge)
                    theirs = c_rates(program, huge=huge)
                walls.append(ours[0] / theirs[0])
                cpus.append(ours[1] / theirs[1])
                rates.append((ours[0] / 1e9, theirs[0] / 1e9))
            print(f"pages of {'2 MiB' if huge else '4 KiB'}, {pairs} pairs, 1 thread, 256 MiB")
            print("  numpy  GB/s:", " ".join(f"{rate[0]:.1f}" for rate in rates))
            print("  C      GB/s:", " ".join(f"{rate[1]:.1f}" for rate in rates))
            for name, ratios in (("by the clock", walls), ("by CPU time", cpus)):
                value, low, high = interval(ratios)
                print(f"  numpy / C {name}: {value:.3f} ({low:.3f} to {high:.3f})")
    load = os.getloadavg()[0]
    print("load over the last minute:", round(load, 1))
    if load > 1.5:  # this script itself is one
        print("other programs were at work: the figures by the clock say nothing, run it again")
    return 0


if __name__ == "__main__":
    sys.exit(main())
