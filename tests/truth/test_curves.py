"""The law of slowdown on the public series: as close as slowdown.md says, class by class."""

import json

import pytest

from app.core import slowdown
from tests.truth import curves
from tests.truth.curves import Accuracy

SERIES = curves.read()
FOUND = {one.kind: one for one in curves.accuracy(SERIES)}
# median, 90th percentile: measured here. The file holds three quarters of what slowdown.md's
# section 2 counts; with few points a percentile moves, so two classes are above its figures.
FLOORS = {
    "discrete dense": (1.5, 7.3),
    "discrete MoE n_cpu_moe": (0.8, 3.7),
    "discrete MoE ngl": (5.2, 6.8),
    "discrete E2B": (5.0, 8.9),
    "discrete <1B": (2.7, 17.1),
    "unified": (17.3, 44.8),
    "own RPC": (3.9, 11.4),
}


def test_no_series_is_left_out() -> None:
    assert len(SERIES) == 50
    assert sum(one.series for one in FOUND.values()) + 4 == 50
    assert sum(1 for series in SERIES if series.set_aside) == 4


def test_the_share_is_that_of_the_recommended_form() -> None:
    for line in curves.FILE.read_text("utf-8").splitlines():
        for point in json.loads(line)["points"]:
            own = slowdown.predicted_share(point["f_bytes"], point["f_blocks"])
            assert own == pytest.approx(point["f"], abs=1e-4)


@pytest.mark.parametrize("kind", FLOORS)
def test_stays_as_close_on_each_class(kind: str) -> None:
    found: Accuracy = FOUND[kind]
    assert found.median <= FLOORS[kind][0]
    assert found.p90 <= FLOORS[kind][1]


def test_every_point_of_dense_and_moe_models_is_within_a_tenth() -> None:
    kinds = ("discrete dense", "discrete MoE n_cpu_moe", "discrete MoE ngl")
    assert [FOUND[kind].within_10 for kind in kinds] == [100, 100, 100]


def test_byte_shares_alone_are_worse_on_small_models() -> None:
    # the reason for the quarter of the layers' share (slowdown.md section 6)
    rows = [json.loads(line) for line in curves.FILE.read_text("utf-8").splitlines()]
    chosen = [row for row in rows if row["cls"] == "discrete E2B" and not row.get("set_aside")]
    plain = [
        curves.Series(
            row["id"], row["cls"],
            tuple(sorted((curves.Point(p["f_bytes"], p["tg"]) for p in row["points"]
                          if not p.get("excluded")), key=lambda point: point.share)),
            "",
        )
        for row in chosen
    ]  # fmt: skip
    errors = sorted(abs(error) for series in plain for error in series.errors())
    assert 100 * errors[len(errors) // 2] > 1.5 * FOUND["discrete E2B"].median


def test_prints_a_line_per_class() -> None:
    assert len(list(curves.table(SERIES))) == 2 + len(FLOORS)
