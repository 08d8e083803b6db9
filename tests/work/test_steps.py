"""Steps: one end, cancellable at each wait, no program left when it comes."""

import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core.errors import UserError
from app.work.jobs import Cancel, Jobs, Progress
from app.work.outcome import End
from app.work.process import Processes
from app.work.steps import FirstOf, Script, Steps, Wait

SLEEP = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]


@pytest.fixture
def steps(qapp: QCoreApplication) -> Iterator[Steps]:
    made = Steps(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


class Story:
    """Notes every signal in order."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.seen: list[tuple[object, ...]] = []
        self.programs_at_end: list[int] = []
        steps.step_started.connect(lambda name: self.seen.append(("step", name)))
        steps.step_ended.connect(lambda name, _s, text: self.seen.append(("end", name, text)))
        steps.progressed.connect(lambda n, text: self.seen.append(("progress", n, text)))
        steps.done.connect(lambda value: self.seen.append(("done", value)))
        steps.failed.connect(lambda error: self.seen.append(("failed", error)))
        steps.cancelled.connect(lambda: self.seen.append(("cancelled",)))
        steps.finished.connect(lambda: self.seen.append(("finished",)))
        steps.finished.connect(lambda: self.programs_at_end.append(self.steps._processes.running()))

    def run(self, script: Script[object], qtbot: QtBot) -> list[tuple[object, ...]]:
        self.steps.run(script)
        qtbot.waitUntil(lambda: not self.steps.is_running, timeout=20_000)
        return self.seen


def test_goes_through_the_steps_in_order(steps: Steps, qtbot: QtBot) -> None:
    def add(_cancel: Cancel, progress: Progress) -> int:
        progress(50, "adding")
        return 1 + 2

    def script() -> Script[int]:
        steps.begin("add")
        total: int = yield steps.job(add, "add")
        steps.end(f"the sum is {total}")
        steps.begin("program")
        outcome = yield steps.program([sys.executable, "-c", "print(1)"])
        steps.end(outcome.sentence())
        return total

    seen = Story(steps).run(script(), qtbot)
    assert seen == [
        ("step", "add"),
        ("progress", 50, "adding"),
        ("end", "add", "the sum is 3"),
        ("step", "program"),
        ("end", "program", seen[4][2]),
        ("done", 3),
        ("finished",),
    ]
    assert "ended normally" in str(seen[4][2])


def test_fails_with_the_error_of_a_job(steps: Steps, qtbot: QtBot) -> None:
    error = UserError("The file is cut")

    def work(_cancel: Cancel, _progress: Progress) -> None:
        raise error

    def script() -> Script[None]:
        yield steps.job(work, "read")

    assert Story(steps).run(script(), qtbot) == [("failed", error), ("finished",)]


def test_lets_the_script_go_on_after_an_error_it_expects(steps: Steps, qtbot: QtBot) -> None:
    def work(_cancel: Cancel, _progress: Progress) -> None:
        raise UserError("No such file")

    def script() -> Script[str]:
        try:
            yield steps.job(work, "read")
        except UserError as error:
            return error.title
        return ""

    assert Story(steps).run(script(), qtbot) == [("done", "No such file"), ("finished",)]


def test_logs_a_bug_in_the_script(
    steps: Steps, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    def script() -> Script[None]:
        steps.begin("divide")
        yield steps.job(lambda _c, _p: 1, "one")
        raise ZeroDivisionError

    seen = Story(steps).run(script(), qtbot)
    assert isinstance(seen[-2][1], ZeroDivisionError)
    assert "divide failed" in caplog.text


@pytest.mark.parametrize("what", ["job", "program", "both"])
def test_cancel_ends_what_it_waits_for(what: str, steps: Steps, qtbot: QtBot) -> None:
    def script() -> Script[str]:
        job = steps.job(lambda cancel, _p: cancel.wait(60), "wait")
        program = steps.program(SLEEP)
        waits: dict[str, Wait] = {"job": job, "program": program, "both": FirstOf(job, program)}
        yield waits[what]
        return "never"

    story = Story(steps)
    steps.run(script())
    steps.cancel()
    steps.cancel()
    qtbot.waitUntil(lambda: not steps.is_running, timeout=20_000)
    assert story.seen == [("cancelled",), ("finished",)]
    assert story.programs_at_end == [0]
    steps._jobs.cancel_all()


def test_cancel_lets_the_script_clean_up(steps: Steps, qtbot: QtBot) -> None:
    cleaned: list[End] = []

    def script() -> Script[None]:
        server = steps.program(SLEEP)
        try:
            yield steps.job(lambda cancel, _p: cancel.wait(60), "wait")
        finally:
            server.process.stop()
            outcome = yield server
            cleaned.append(outcome.end)

    story = Story(steps)
    steps.run(script())
    steps.cancel()
    qtbot.waitUntil(lambda: not steps.is_running, timeout=20_000)
    assert cleaned == [End.STOPPED]
    assert story.seen == [("cancelled",), ("finished",)]


def test_cancel_from_a_slot_ends_the_next_wait(steps: Steps, qtbot: QtBot) -> None:
    def script() -> Script[None]:
        steps.begin("wait")
        yield steps.job(lambda cancel, _p: cancel.wait(60), "wait")

    steps.step_started.connect(lambda _name: steps.cancel())
    assert Story(steps).run(script(), qtbot) == [("step", "wait"), ("cancelled",), ("finished",)]


def test_stops_a_program_that_the_script_forgot(steps: Steps, qtbot: QtBot) -> None:
    def script() -> Script[str]:
        steps.program(SLEEP)
        yield steps.job(lambda _c, _p: 1, "one")
        return "done"

    story = Story(steps)
    assert story.run(script(), qtbot) == [("done", "done"), ("finished",)]
    assert story.programs_at_end == [0]


def test_first_of_gives_the_first_end_and_the_other_later(steps: Steps, qtbot: QtBot) -> None:
    def script() -> Script[tuple[object, ...]]:
        job = steps.job(lambda _c, _p: "ready", "wait")
        program = steps.program(SLEEP)
        first = yield FirstOf(job, program)
        program.process.stop()
        outcome = yield program
        again = yield job  # it has ended already
        return (first, again, outcome.end)

    seen = Story(steps).run(script(), qtbot)
    assert seen[0] == ("done", ("ready", "ready", End.STOPPED))


def test_closing_the_window_cancels_and_starts_nothing_more(steps: Steps) -> None:
    begun: list[str] = []

    def script() -> Script[None]:
        yield steps.program(SLEEP)
        begun.append("the next step")
        yield steps.program(SLEEP)

    story = Story(steps)
    steps.run(script())
    assert steps._processes.stop_all_and_wait()
    assert begun == []
    assert story.seen == [("cancelled",), ("finished",)]


def test_refuses_a_second_script(steps: Steps, qtbot: QtBot) -> None:
    def script() -> Script[None]:
        yield steps.job(lambda _c, _p: 1, "one")

    steps.run(script())
    with pytest.raises(RuntimeError, match="already"):
        steps.run(script())
    qtbot.waitUntil(lambda: not steps.is_running)
