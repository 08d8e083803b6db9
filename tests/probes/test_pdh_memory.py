"""Windows' paging rates become totals: a first look without rates, odd values, and none at all."""

import mmap
from collections.abc import Mapping

import pytest

from app.probes import pdh_memory
from app.probes.pdh_memory import INPUT, OUTPUT, Paging, PagingTotals


def _totals(*answers: Mapping[str, int]) -> PagingTotals:
    waiting, clock = list(answers), iter(range(100))
    return PagingTotals(lambda: waiting.pop(0), lambda: float(next(clock)))


def test_rates_add_up_to_bytes() -> None:
    meter = _totals({}, {INPUT: 100, OUTPUT: 0}, {INPUT: 50, OUTPUT: 8})
    assert meter.read() == Paging(None, None)
    assert meter.read() == Paging(100 * mmap.PAGESIZE, 0)
    assert meter.read() == Paging(150 * mmap.PAGESIZE, 8 * mmap.PAGESIZE)


@pytest.mark.parametrize("rate", [-1, 1 << 60])
def test_a_rate_that_cannot_be_is_left_out(rate: int) -> None:
    meter = _totals({INPUT: 10}, {INPUT: rate}, {INPUT: 10})
    assert [meter.read().input_bytes for _ in range(3)] == [0, 0, 10 * mmap.PAGESIZE]


def test_a_counter_that_is_not_there_is_not_zero() -> None:
    meter = _totals({}, {OUTPUT: 5})
    meter.read()
    assert meter.read() == Paging(None, 5 * mmap.PAGESIZE)
    assert pdh_memory.totals() is None or meter is not None
