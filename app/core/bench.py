"""A measured rate: its samples, mean and 95 % interval, and what it was measured with."""

import math
import statistics
from dataclasses import dataclass
from enum import Enum

# two-sided 95 % points of Student's t for 1 to 30 degrees of freedom
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


class Test(Enum):
    """The two rates that are never merged."""

    __test__ = False  # pytest would collect a class of this name
    PROMPT = "prompt"
    GENERATION = "generation"

    @property
    def title(self) -> str:
        """Return its name at the start of a line."""
        return self.name.capitalize()


# what decides a rate first, by llama-bench's names, in the order in which it is shown
MAIN_SETTINGS = (
    "n_gpu_layers", "devices", "n_threads", "type_k", "type_v", "flash_attn", "n_ubatch",
)  # fmt: skip


# a difference below a tenth is not felt: intervals that exclude a larger one show "no difference"
_ALIKE = 1.1


class Change(Enum):
    """What two rates say about each other."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no difference"
    UNSURE = "cannot tell"  # the intervals overlap, and leave room for a difference that matters
    DISTURBED = "not told apart"  # other programs computed during one of them
    UNDECIDED = "too few samples"


@dataclass(frozen=True, slots=True)
class BenchRun:
    """One rate in tokens per second, with the settings it was measured under."""

    test: Test
    n_tokens: int  # prompt or generated tokens per repetition
    samples_tps: tuple[float, ...]
    instrument: str  # "llama-bench" or "llama-server"
    settings: tuple[tuple[str, str], ...] = ()
    depth: int = 0
    build: str = ""
    model_name: str = ""
    model_bytes: int | None = None
    backends: str = ""
    started: str = ""  # UTC, ISO 8601
    busy: str = ""  # why the machine was not quiet, "" when it was
    run_id: str = ""  # the rates of one run share it

    @property
    def n(self) -> int:
        """Return how many repetitions there are."""
        return len(self.samples_tps)

    @property
    def mean_tps(self) -> float:
        """Return the mean rate; 0.0 only if there are no samples."""
        return statistics.fmean(self.samples_tps) if self.samples_tps else 0.0

    @property
    def half_width_tps(self) -> float | None:
        """Return half of the 95 % t-interval, None below two samples."""
        if self.n < 2:
            return None
        return t95(self.n - 1) * statistics.stdev(self.samples_tps) / math.sqrt(self.n)

    @property
    def low_tps(self) -> float | None:
        """Return the lower end of the interval, never below zero."""
        half = self.half_width_tps
        return None if half is None else max(0.0, self.mean_tps - half)

    @property
    def high_tps(self) -> float | None:
        """Return the upper end of the interval."""
        half = self.half_width_tps
        return None if half is None else self.mean_tps + half

    def setting(self, name: str) -> str | None:
        """Return one setting by name."""
        return dict(self.settings).get(name)


def t95(degrees: int) -> float:
    """Return the two-sided 95 % point of Student's t; 1.96 beyond the table."""
    return _T95[degrees - 1] if 1 <= degrees <= len(_T95) else 1.96


def compare(before: BenchRun, after: BenchRun) -> Change:
    """Compare two rates by interval: apart is faster or slower.

    Overlapping is "no difference" only where both ends exclude one of a tenth.
    """
    if None in (before.low_tps, before.high_tps, after.low_tps, after.high_tps):
        return Change.UNDECIDED
    assert before.low_tps is not None and before.high_tps is not None
    assert after.low_tps is not None and after.high_tps is not None
    if after.low_tps > before.high_tps:
        return Change.FASTER
    if after.high_tps < before.low_tps:
        return Change.SLOWER
    widest = max(after.high_tps, before.high_tps)
    return Change.SAME if widest <= _ALIKE * min(after.low_tps, before.low_tps) else Change.UNSURE


# llama-bench prints such a column since the option exists (cmd_params_defaults of build 11434)
_UNSET = {"n_cpu_moe": "0", "tensor_buft_overrides": "none"}


def differing_settings(before: BenchRun, after: BenchRun) -> tuple[tuple[str, str, str], ...]:
    """Return (name, before, after) for each setting, build and instrument that differs.

    What one run does not name is not known, so it is no difference, but for the options whose
    default is to do nothing: without a column for them they were not set.
    """
    first = {**dict(before.settings), "build": before.build, "instrument": before.instrument}
    last = {**dict(after.settings), "build": after.build, "instrument": after.instrument}
    names = sorted(first.keys() | last.keys())
    pairs = (
        (name, first.get(name) or _UNSET.get(name, ""), last.get(name) or _UNSET.get(name, ""))
        for name in names
    )
    return tuple(pair for pair in pairs if pair[1] and pair[2] and pair[1] != pair[2])
