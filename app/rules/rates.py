"""What several rules ask of the measured rates: pairs that differ in one setting, and cites."""

from collections.abc import Iterator
from itertools import permutations

from app.core import units
from app.core.bench import BenchRun, Change, Test, compare
from app.core.evidence import Evidence
from app.core.rule import Cite

# below this a difference is no finding where no interval is known (slowdown.md section 4)
CLEAR = 1.15


def of(evidence: Evidence, test: Test) -> tuple[BenchRun, ...]:
    """Return the runs of one test that gave a rate."""
    return tuple(run for run in evidence.runs if run.test is test and run.mean_tps > 0)


def is_faster(fast: BenchRun, slow: BenchRun, factor: float = CLEAR) -> bool:
    """Tell whether a rate is above another: by interval, and by more than this factor."""
    if fast.mean_tps < factor * slow.mean_tps:
        return False
    return compare(slow, fast) in (Change.FASTER, Change.UNDECIDED)


def is_by_interval(fast: BenchRun, slow: BenchRun) -> bool:
    """Tell whether the intervals lie apart; a single sample has none."""
    return compare(slow, fast) is Change.FASTER


def pairs(evidence: Evidence, test: Test) -> Iterator[tuple[BenchRun, BenchRun]]:
    """Yield each (faster, slower) pair of one test and model whose rates are clearly apart."""
    for fast, slow in permutations(of(evidence, test), 2):
        if fast.model_name == slow.model_name and is_faster(fast, slow):
            yield fast, slow


def differences(first: BenchRun, second: BenchRun) -> frozenset[str]:
    """Return the names of the settings in which two runs differ."""
    one, two = dict(first.settings), dict(second.settings)
    return frozenset(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))


def whole(run: BenchRun, name: str) -> int | None:
    """Return a setting as a whole number, None when it is none."""
    text = run.setting(name) or ""
    return int(text) if text.lstrip("-").isdigit() else None


def cite(run: BenchRun, *names: str) -> Cite:
    """Cite a rate with the settings that matter."""
    what = "prompt" if run.test is Test.PROMPT else "generation"
    said = ", ".join(f"{name} {run.setting(name)}" for name in names if run.setting(name))
    model = f", {run.model_name}" if run.model_name else ""
    text = f"{what}{model}{', ' + said if said else ''}: {units.rate(run.mean_tps)}"
    return Cite(text, source=run.instrument or "measured")
