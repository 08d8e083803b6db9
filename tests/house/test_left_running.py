"""The check after each test sees what is left running: each kind is left on purpose here."""

from pathlib import Path

import pytest

LEAVES = {
    "thread": """
        import threading
        end = threading.Event()
        def test_leaves():
            threading.Thread(target=end.wait, args=(2,), daemon=True, name="mine").start()
        """,
    "process": """
        import subprocess, sys
        kept = []
        def test_leaves():
            kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        """,
    "timer": """
        from PySide6.QtCore import QTimer
        kept = []
        def test_leaves(qapp):
            kept.append(QTimer())
            kept[0].start(60_000)
        """,
}
TIDY = """
    from PySide6.QtCore import QThreadPool, QTimer
    def test_ends(qapp):
        pool = QThreadPool()
        pool.start(lambda: None)
        timer = QTimer()
        timer.start(60_000)
        timer.stop()
    """


def run_inside(pytester: pytest.Pytester, test: str) -> pytest.RunResult:
    pytester.makepyfile(test)
    pytester.makeconftest("from tests.conftest import *")
    return pytester.runpytest_subprocess("-p", "no:cacheprovider")


@pytest.fixture(autouse=True)
def repository_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


@pytest.mark.parametrize("kind", LEAVES)
def test_fails_when_something_is_left(pytester: pytest.Pytester, kind: str) -> None:
    result = run_inside(pytester, LEAVES[kind])
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"*left running: {kind} *"])


def test_passes_when_all_has_ended(pytester: pytest.Pytester) -> None:
    run_inside(pytester, TIDY).assert_outcomes(passed=1)
