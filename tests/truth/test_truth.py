"""The floor below which the planner may not fall, over all runs of the truth file."""

import re

import pytest

from app.core.fit import fit
from app.core.placement import prepare
from tests.truth import __main__ as printer
from tests.truth import models
from tests.truth.check import ComputeError, Report, check
from tests.truth.rows import Truth, read


@pytest.fixture(scope="module")
def truths() -> tuple[Truth, ...]:
    """Return all runs."""
    return tuple(read())


@pytest.fixture(scope="module")
def report(truths: tuple[Truth, ...]) -> Report:
    """Compare all runs once."""
    return check(truths)


def test_no_run_is_left_out(report: Report) -> None:
    assert report.runs == 1683
    assert report.fits.total == 37
    assert report.refusals.total == 5


@pytest.mark.parametrize(
    ("what", "at_least"), [("weights", 3900), ("context", 3900), ("KV lines", 1590)]
)
def test_every_row_agrees(report: Report, what: str, at_least: int) -> None:
    count = report.kind(what)
    assert count.total >= at_least
    assert count.right == count.total, report.differences[:10]


def test_every_refusal_is_predicted(report: Report) -> None:
    assert report.refusals.right == report.refusals.total


def test_fit_decides_as_llama_cpp_did(report: Report) -> None:
    assert report.fits.right == report.fits.total, report.differences


def test_every_compute_buffer_is_within_a_mib_and_in_its_range(report: Report) -> None:
    errors = [error for found in report.compute.values() for error in found]
    assert len(errors) >= 2800
    assert len(report.compute) == 28  # programs and placements
    assert [error for error in errors if error.off > 1.01 or not error.is_in_range] == []


def test_the_lines_of_a_fit_are_those_that_were_printed(truths: tuple[Truth, ...]) -> None:
    truth = next(
        t for t in truths if t.model == "llama-3.3-70b" and t.flags == ("-fit", "on", "-c", "8192")
    )
    prepared = prepare(models.build(truth.model, truth.arch, truth.recipe, truth.params))
    result = fit(prepared, truth.device_list(), truth.host, truth.request(), truth.build)
    printed = [line for line in truth.fit_lines if _is_decision(line)]
    assert len(result.steps) == len(printed)
    for step, line in zip(result.steps, printed, strict=True):
        assert step.text
        # the name of the recording's device has its port
        own, said = step.log_line, re.sub(r"\(127\.0\.0\.1:\d+\)", "()", line)
        assert re.sub(r"\d+", "N", own).strip("- ") == re.sub(r"\d+", "N", said).strip("- ")
        # free memory was recorded in whole MiB
        for a, b in zip(re.findall(r"\d+", own), re.findall(r"\d+", said), strict=True):
            assert abs(int(a) - int(b)) <= 1


def _is_decision(line: str) -> bool:
    return not re.search(r"id=\d|test allocation|filling|set ngl_per_device", line)


def test_prints_a_line_per_architecture_and_per_kind_of_buffer(report: Report) -> None:
    rows = list(printer.row_lines(report))
    assert len({row[0] for row in rows[1:-1]}) == 16
    assert rows[-1][0] == "all"


@pytest.mark.parametrize(
    ("said", "value", "off", "is_inside"),
    [(100, 100.9, 0.9, True), (100, 90.0, 10.0, True), (100, 50.0, 50.0, False)],
)
def test_counts_how_far_a_figure_is_off(
    said: int, value: float, off: float, is_inside: bool
) -> None:
    error = ComputeError(said, value, value - 10, value + 10)
    assert error.off == pytest.approx(off)
    assert error.is_in_range is is_inside
