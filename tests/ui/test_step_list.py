"""The list of steps says of each how it ended; a failed one never looks done."""

import pytest
from pytestqt.qtbot import QtBot

from app.ui.widgets.icon_label import IconLabel
from app.ui.widgets.step_list import StepList


@pytest.fixture
def steps(qtbot: QtBot) -> StepList:
    """Return a list that was cleared for a run."""
    found = StepList()
    qtbot.addWidget(found)
    found.clear()
    return found


def icons(steps: StepList) -> list[str]:
    return [label.name for label in steps.findChildren(IconLabel)]


def test_marks_a_step_as_done_when_it_ended(steps: StepList) -> None:
    steps.start_step("Reading")
    assert icons(steps) == ["play"]
    steps.end_step(0.2, "18 blocks")
    assert icons(steps) == ["circle-check"]
    assert steps.accessibleDescription() == "Reading: 200 ms · 18 blocks"


def test_marks_a_step_as_failed_when_it_did_not_succeed(steps: StepList) -> None:
    steps.start_step("Loading")
    steps.fail_step(1.0, "llama-server ended with exit code 1")
    steps.start_step("Reading the log")
    steps.end_step(0.1, "")
    steps.finish("Done.")
    assert icons(steps) == ["circle-x", "circle-check"]


def test_marks_an_open_step_as_failed_when_the_run_ends_without_it(steps: StepList) -> None:
    steps.start_step("Measuring")
    steps.finish("Cancelled.")
    assert icons(steps) == ["circle-x"]
