"""The floor below which the planner may not fall, over all runs of the truth file."""

import re

import pytest

from app.core.fit import fit
from app.core.placement import prepare
from tests.truth import __main__ as printer
from tests.truth import models
from tests.truth.check import ComputeError, Report, check
from tests.truth.rows import Truth, read

# per cent of the compute buffers within 1 MiB, and in the range that is shown
FLOORS = {
    ("llama-server", "host only", "host"): (100, 100),
    ("llama-server", "one device, all", "host"): (100, 100),
    ("llama-server", "one device, all", "device"): (100, 100),
    ("llama-server", "several devices, all", "host"): (100, 100),
    ("llama-server", "several devices, all", "device"): (100, 100),
    ("llama-server", "cache on the host", "host"): (100, 100),
    ("llama-server", "cache on the host", "device"): (97, 98),
    ("llama-server", "one device, all (Vulkan)", "host"): (100, 100),
    ("llama-server", "one device, all (Vulkan)", "device"): (81, 99),
    ("llama-server", "one device, part (Vulkan)", "host"): (100, 100),
    ("llama-server", "one device, part (Vulkan)", "device"): (84, 100),
    ("llama-fit-params", "host only", "host"): (100, 100),
    ("llama-fit-params", "one device, all", "host"): (100, 100),
    ("llama-fit-params", "one device, all", "device"): (100, 100),
    ("llama-fit-params", "one device, part", "host"): (100, 100),
    ("llama-fit-params", "one device, part", "device"): (100, 100),
    ("llama-fit-params", "several devices, part", "host"): (100, 100),
    ("llama-fit-params", "several devices, part", "device"): (100, 100),
    ("llama-fit-params", "several devices, all", "host"): (100, 100),
    ("llama-fit-params", "several devices, all", "device"): (100, 100),
    ("llama-fit-params", "experts on the host", "host"): (100, 100),
    ("llama-fit-params", "experts on the host", "device"): (100, 100),
    ("llama-fit-params", "cache on the host", "host"): (100, 100),
    ("llama-fit-params", "cache on the host", "device"): (100, 100),
}


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


@pytest.mark.parametrize("key", FLOORS, ids=" / ".join)
def test_compute_buffers_stay_as_close(report: Report, key: tuple[str, str, str]) -> None:
    errors = report.compute[key]
    close = 100 * sum(error.off <= 1.01 for error in errors) / len(errors)
    inside = 100 * sum(error.is_in_range for error in errors) / len(errors)
    assert (close >= FLOORS[key][0], inside >= FLOORS[key][1]) == (True, True), (close, inside)


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
