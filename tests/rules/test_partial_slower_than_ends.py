"""A middle below both ends leads to the faster end, whichever it is."""

import pytest

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.rule import Certainty
from app.rules.partial_slower_than_ends import check, needs, silent


def runs(none: float, middle: float, full: float) -> Evidence:
    """Make three rates with small spread."""
    return Evidence(
        runs=tuple(
            BenchRun(Test.GENERATION, 128, (tps - 0.1, tps, tps + 0.1), "llama-bench",
                     (("n_gpu_layers", layers),))
            for layers, tps in (("0", none), ("12", middle), ("-1", full))
        )
    )  # fmt: skip


@pytest.mark.parametrize(("ends", "ngl"), [((20.0, 26.0), None), ((26.0, 20.0), 0)])
def test_names_the_faster_end(ends: tuple[float, float], ngl: int | None) -> None:
    finding = check(runs(ends[0], 12.0, ends[1]))
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert finding.fix.change == (("ngl", ngl),)


def test_is_silent_when_the_middle_lies_between() -> None:
    evidence = runs(10.0, 15.0, 40.0)
    assert check(evidence) is None
    assert silent(evidence)


def test_needs_both_ends() -> None:
    assert "both ends" in needs(Evidence(runs=runs(10, 15, 40).runs[:2]))
