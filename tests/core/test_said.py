"""llama.cpp's word beside the calculated one: what counts as a difference."""

import pytest

from app.core.machine import Host
from app.core.placement import place, prepare
from app.core.request import LoadRequest
from app.core.said import Said, SaidRow, apart, compare
from app.core.units import MIB
from tests.core import small_models

PLACED = place(prepare(small_models.llama()), (), Host(), LoadRequest(ctx=4096))
(HOST,) = PLACED.rows


def _said(weights: int, context: int, compute: int, name: str = "Host") -> Said:
    row = SaidRow(name, True, weights, context, compute)
    return Said((row,), "llama-server", 11434, (), LoadRequest(), 0.5)


def _true() -> tuple[int, int, int]:
    return HOST.weights_bytes // MIB, HOST.context_bytes // MIB, HOST.compute_bytes // MIB


def test_says_nothing_when_both_agree() -> None:
    figures = compare(PLACED, _said(*_true()))
    assert len(figures) == 3
    assert apart(figures) == ()


@pytest.mark.parametrize(("column", "part"), [(0, "weights"), (1, "context"), (2, "compute")])
def test_marks_a_part_that_differs(column: int, part: str) -> None:
    weights, context, compute = (size + 400 * (i == column) for i, size in enumerate(_true()))
    (text,) = apart(compare(PLACED, _said(weights, context, compute)))
    assert text.startswith(f"Host {part}: calculated ")
    assert text.endswith(f"llama.cpp says {(weights, context, compute)[column]:,} MiB")


@pytest.mark.parametrize(("off", "is_apart"), [(1, False), (-1, False), (3, True), (-3, True)])
def test_tolerates_one_mib_of_weights_and_no_more(off: int, is_apart: bool) -> None:
    weights, context, compute = _true()
    assert bool(apart(compare(PLACED, _said(weights + off, context, compute)))) is is_apart


def test_tolerates_compute_within_its_stated_range() -> None:
    weights, context, _compute = _true()
    low = HOST.compute_low_bytes // MIB
    assert HOST.compute_low_bytes < HOST.compute_bytes
    assert apart(compare(PLACED, _said(weights, context, low))) == ()


def test_marks_a_buffer_that_only_one_of_them_names() -> None:
    texts = apart(compare(PLACED, _said(*_true(), name="CPU_REPACK")))
    assert any(text.startswith("Host weights") for text in texts)
    assert any(text.startswith("CPU_REPACK weights: calculated 0.0 MiB") for text in texts)
