"""Jobs: one end each, results in the GUI thread, nothing lost, nothing left."""

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QThread, Slot
from pytestqt.qtbot import QtBot

from app.core.errors import UserError
from app.work.jobs import Cancel, Cancelled, Job, Jobs, Latest, Progress


class Listener(QObject):
    """Notes every signal of the jobs it follows, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, object]] = []
        self.threads: set[bool] = set()

    def follow(self, job: Job) -> None:
        job.done.connect(self._on_done)
        job.failed.connect(self._on_failed)
        job.cancelled.connect(self._on_cancelled)
        job.finished.connect(self._on_finished)
        job.progress.connect(self._on_progress)

    def _note(self, name: str, value: object = None) -> None:
        self.threads.add(QThread.currentThread() is self.thread())
        self.seen.append((name, value))

    @Slot(object)
    def _on_done(self, value: object) -> None:
        self._note("done", value)

    @Slot(object)
    def _on_failed(self, value: object) -> None:
        self._note("failed", value)

    @Slot()
    def _on_cancelled(self) -> None:
        self._note("cancelled")

    @Slot()
    def _on_finished(self) -> None:
        self._note("finished")

    @Slot(int, str)
    def _on_progress(self, percent: int, text: str) -> None:
        self._note("progress", (percent, text))


@pytest.fixture
def jobs(qapp: QCoreApplication) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    assert made.stop_all_and_wait()


@pytest.fixture
def listener() -> Listener:
    return Listener()


def _idle(jobs: Jobs, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: jobs.running() == 0, timeout=20_000)


def test_delivers_done_then_finished_in_the_owning_thread(
    jobs: Jobs, listener: Listener, qtbot: QtBot
) -> None:
    worker_threads: list[bool] = []
    main_thread = threading.get_ident()

    def work(cancel: Cancel, progress: Progress) -> int:
        worker_threads.append(threading.get_ident() == main_thread)
        progress(10, "reading")
        progress(10, "reading")
        progress(20, "reading")
        return 42

    listener.follow(jobs.start(work, name="read"))
    _idle(jobs, qtbot)
    assert listener.seen == [
        ("progress", (10, "reading")),
        ("progress", (20, "reading")),
        ("done", 42),
        ("finished", None),
    ]
    assert listener.threads == {True}
    assert worker_threads == [False]


def test_delivers_the_users_error_when_the_work_raises_one(
    jobs: Jobs, listener: Listener, qtbot: QtBot
) -> None:
    error = UserError("The file ends too early")

    def work(_cancel: Cancel, _progress: Progress) -> None:
        raise error

    listener.follow(jobs.start(work, name="read"))
    _idle(jobs, qtbot)
    assert listener.seen == [("failed", error), ("finished", None)]


def test_delivers_and_logs_a_bug_with_its_trace(
    jobs: Jobs, listener: Listener, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    def work(_cancel: Cancel, _progress: Progress) -> float:
        return 1 / 0

    listener.follow(jobs.start(work, name="divide"))
    _idle(jobs, qtbot)
    assert isinstance(listener.seen[0][1], ZeroDivisionError)
    assert "divide failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_ends_with_failed_when_the_work_leaves_the_interpreter(
    jobs: Jobs, listener: Listener, qtbot: QtBot
) -> None:
    def work(_cancel: Cancel, _progress: Progress) -> None:
        raise SystemExit(3)

    listener.follow(jobs.start(work, name="leave"))
    _idle(jobs, qtbot)
    assert [name for name, _ in listener.seen] == ["failed", "finished"]


def test_publishes_nothing_when_cancelled_at_a_block(
    jobs: Jobs, listener: Listener, qtbot: QtBot
) -> None:
    started, cancelled = threading.Event(), threading.Event()

    def work(cancel: Cancel, progress: Progress) -> str:
        started.set()
        cancelled.wait(10)
        progress(50)
        cancel.check()
        return "a result nobody wants"

    job = jobs.start(work, name="read")
    listener.follow(job)
    assert started.wait(10)
    job.cancel()
    cancelled.set()
    _idle(jobs, qtbot)
    assert listener.seen == [("cancelled", None), ("finished", None)]


def test_publishes_nothing_when_cancelled_after_the_work_was_done(
    jobs: Jobs, listener: Listener, qtbot: QtBot
) -> None:
    over = threading.Event()

    def work(_cancel: Cancel, _progress: Progress) -> str:
        over.set()
        return "too late"

    job = jobs.start(work, name="read")
    listener.follow(job)
    assert over.wait(10)
    assert jobs._pool.waitForDone(10_000)  # the end is posted, but not delivered
    job.cancel()
    _idle(jobs, qtbot)
    assert listener.seen == [("cancelled", None), ("finished", None)]


def test_wait_leaves_at_once_when_cancelled() -> None:
    cancel = Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        cancel.wait(3600)


def test_delivers_every_result_when_nobody_holds_the_jobs(jobs: Jobs, qtbot: QtBot) -> None:
    total = 4000
    listener = Listener()

    def start(number: int) -> None:
        job = jobs.start(lambda _cancel, _progress: number, name=str(number))
        job.done.connect(listener._on_done)

    for number in range(total):
        start(number)
        if number % 500 == 0:
            gc.collect()
    _idle(jobs, qtbot)
    assert sorted(int(str(value)) for _, value in listener.seen) == list(range(total))
    assert listener.threads == {True}


def test_stop_all_and_wait_ends_what_runs_and_what_waits(jobs: Jobs, listener: Listener) -> None:
    def work(cancel: Cancel, _progress: Progress) -> None:
        cancel.wait(3600)

    for number in range(40):
        listener.follow(jobs.start(work, name=str(number)))
    assert jobs.stop_all_and_wait()
    assert jobs.running() == 0
    assert [name for name, _ in listener.seen].count("cancelled") == 40
    assert [name for name, _ in listener.seen].count("finished") == 40


def test_stop_all_and_wait_says_so_when_a_job_does_not_look_at_its_flag(jobs: Jobs) -> None:
    started, release = threading.Event(), threading.Event()

    def work(_cancel: Cancel, _progress: Progress) -> None:
        started.set()
        release.wait(20)

    jobs.start(work, name="deaf")
    assert started.wait(10)
    assert not jobs.stop_all_and_wait(timeout_s=0.05)
    release.set()


def test_a_newer_request_cancels_the_older(jobs: Jobs, listener: Listener, qtbot: QtBot) -> None:
    latest = Latest(jobs)

    def slow(cancel: Cancel, _progress: Progress) -> None:
        cancel.wait(3600)

    listener.follow(latest.start(slow, name="old"))
    listener.follow(latest.start(lambda _cancel, _progress: "new", name="new"))
    _idle(jobs, qtbot)
    assert ("done", "new") in listener.seen
    assert [name for name, _ in listener.seen].count("cancelled") == 1


def test_refuses_to_start_from_another_thread(jobs: Jobs, listener: Listener, qtbot: QtBot) -> None:
    def work(_cancel: Cancel, _progress: Progress) -> None:
        jobs.start(lambda _c, _p: None, name="inner")

    listener.follow(jobs.start(work, name="outer"))
    _idle(jobs, qtbot)
    assert isinstance(listener.seen[0][1], RuntimeError)
