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


def test_tells_of_a_part_that_is_slower_than_nothing() -> None:
    runs = tuple(
        BenchRun(Test.GENERATION, 128, samples, "llama-bench", settings=(("n_gpu_layers", layers),))
        for samples, layers in (((7.14, 7.22, 7.3), "0"), ((3.04, 3.05, 3.06), "8"))
    )
    finding = check(Evidence(runs=runs))
    assert finding is not None and dict(finding.fix.change) == {"ngl": 0}
    faster = (runs[1], BenchRun(Test.GENERATION, 128, (3.0, 3.01, 2.99), "llama-bench",
                                settings=(("n_gpu_layers", "0"),)))  # fmt: skip
    assert check(Evidence(runs=faster)) is None
