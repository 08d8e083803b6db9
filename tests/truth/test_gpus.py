"""The planner against loads on real GPUs: what holds on every backend, and what does not yet."""

import pytest

from tests.house.tree import ROOT
from tests.truth import curves, gpus

LOADS = gpus.read()
FOUND = gpus.check(LOADS)
# one file of a tied model has an output matrix of its own (docs/accuracy.md)
EXCEPTIONS = ("G33 CUDA: weights",)


def test_weights_cache_and_context_agree_on_every_backend() -> None:
    exact = ("weights", "KV cache", "context row")
    wrong = [
        line
        for backend in FOUND.values()
        for line in backend.differences
        if any(f": {kind} " in line for kind in exact)
    ]
    assert len(wrong) == len(EXCEPTIONS), wrong
    for line, start in zip(wrong, EXCEPTIONS, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("kind", "right", "total"),
    [
        ("host compute", 35, 36),
        ("host compute in range", 35, 36),
        ("device compute", 38, 46),
        ("device compute in range", 44, 46),
        ("compute in range, build unknown", 80, 82),
    ],
)
def test_compute_of_other_builds_stays_as_close(kind: str, right: int, total: int) -> None:
    counts = [backend.counts[kind] for backend in FOUND.values()]
    assert sum(count.total for count in counts) == total
    assert sum(count.right for count in counts) >= right


def test_the_tables_in_the_docs_are_those_of_today() -> None:
    text = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    for line in (*gpus.table(FOUND), *curves.table(curves.read())):
        assert line in text
