"""The way to the best speed: each step planned on top of the others, with its range."""

from dataclasses import replace

import pytest

from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.core.reading import Estimate, Kind
from app.core.units import GIB
from app.core.waterfall import Waterfall, waterfall
from app.core.ways import Toll
from tests.core.test_expectation import run
from tests.core.test_ranking import CARD, R, evidence, ranked

# 4 blocks of 3.5 GiB; at 131072 tokens the cache has 32 GiB
TIGHT = replace(CARD, total_bytes=20 * GIB, free_bytes=10 * GIB)


def path(seen: Evidence, r: Estimate | None = R) -> Waterfall:
    """Return the path of a load."""
    found = waterfall(seen, forecast(seen, r))
    assert found is not None
    return found


def crowded() -> Evidence:
    """Return a load for whose context and weights the card is too small."""
    return replace(evidence(TIGHT, ngl=2, ctx=131072), runs=(run(2, 20.0),))


def test_goes_on_where_one_change_alone_is_not_enough() -> None:
    found = path(crowded())
    # the context alone makes no room for all layers, on top of the smaller file it does
    assert [stage.id for stage in found.stages] == ["smaller-quantisation", "shorter-context"]
    assert "shorter-context" not in ranked(crowded())
    assert [stage.toll for stage in found.stages] == [Toll.QUALITY, Toll.CONTEXT]
    first, last = found.stages
    assert last.level.speed.value > first.level.speed.value > 1
    assert found.best is last.level


def test_each_step_is_planned_and_the_levels_are_against_now() -> None:
    found = path(crowded())
    first, last = found.stages
    assert first.gain.value == pytest.approx(first.level.speed.value)
    # the same bytes and r: the steps' times chain, each with its own range
    assert first.gain.value * last.gain.value == pytest.approx(last.level.speed.value)
    for stage in found.stages:
        assert stage.gain.low < stage.gain.value < stage.gain.high
        assert stage.gain.kind is Kind.CALCULATED and "r measured here" in stage.gain.source


def test_what_the_kernels_make_unsure_stays_unsure() -> None:
    last = path(crowded()).stages[-1]
    width = last.level.speed.high / last.level.speed.low
    assert width > 1.3 * 1.3  # a smaller file may be read 1.3 times slower or faster


def test_levels_are_tokens_per_second_with_the_interval_of_the_measurement() -> None:
    found = path(replace(evidence(), runs=(run(3, 20.0, spread=0.1),)))
    assert found.now.tps is not None and found.now.tps.value == pytest.approx(20.0)
    more = found.stages[0]
    assert more.id == "more-layers" and more.level.tps is not None
    assert more.level.tps.value == pytest.approx(20 * more.gain.value)
    assert more.level.tps.low == pytest.approx(found.now.tps.low * more.level.speed.low)
    assert "20.00 tok/s measured" in more.level.tps.source


def test_without_a_rate_the_levels_are_against_now_only() -> None:
    found = path(evidence())
    assert found.now.tps is None and found.now.speed.value == 1.0
    assert found.stages[0].level.tps is None


def test_names_what_brings_nothing_any_more() -> None:
    found = path(evidence())
    assert [stage.id for stage in found.stages] == ["more-layers", "smaller-quantisation"]
    told = {one.title: one.why for one in found.left_out}
    assert "takes no room" in told["A shorter context"]
    assert "takes no room" in told["A smaller KV cache"]


def test_draws_nothing_without_r_and_says_so() -> None:
    found = path(evidence(), None)
    assert found.stages == () and "r is not known" in found.why
    assert found.best is found.now


def test_leaves_the_slower_device() -> None:
    slower = Estimate(0.4, 0.35, 0.45, "measured here", Kind.MEASURED)
    seen = replace(evidence(ngl=None), runs=(run(5, 6.0),))
    found = path(seen, slower)
    assert found.stages[0].id == "host-only"
    assert found.stages[0].gain.value == pytest.approx(1 / 0.4, rel=0.01)
    assert "more-layers" not in [stage.id for stage in found.stages]


def test_takes_what_was_measured_before_what_is_calculated() -> None:
    seen = replace(evidence(), runs=(run(3, 20.0),), history=(run(0, 10.0), run(5, 61.0)))
    more = path(seen, None).stages[0]
    assert more.gain.kind is Kind.MEASURED
    assert more.gain.value == pytest.approx(61 / 20)
    assert "5 of 5 layers" in more.gain.source


def test_there_is_no_path_without_a_placement() -> None:
    seen = replace(evidence(), model=None)
    assert waterfall(seen, forecast(seen, R)) is None
