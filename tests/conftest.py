"""What every test gets: an offscreen Qt, the real programs, and proof that nothing is left over."""

import gc
import itertools
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests import real_programs

_NUMBERS = itertools.count()

# before anything imports Qt
if "--headed" not in sys.argv:
    os.environ["QT_QPA_PLATFORM"] = "offscreen"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --headed: watch the tests on the screen."""
    parser.addoption("--headed", action="store_true", help="show the windows on the screen")


def pytest_collection_finish() -> None:
    """Set what the imports left on the heap apart: each test's look through it is shorter then."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def _real() -> None:
    """Skip where real programs cannot run; on Linux x86-64 nothing is skipped."""
    if reason := real_programs.why_not():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def llama_bin(_real: None) -> Path:
    """Return the folder of the programs of llama.cpp build 11434."""
    return real_programs.llama_bin()


@pytest.fixture(scope="session")
def vulkan_server(_real: None) -> Path:
    """Return llama-server 10434 with Vulkan; run it with GGML_VK_VISIBLE_DEVICES=0."""
    return real_programs.vulkan_server()


@pytest.fixture(scope="session")
def gemma(_real: None) -> Path:
    """Return the model Gemma 3 270M Q4_K_M, 253,113,024 bytes."""
    return real_programs.gemma()


@pytest.fixture(scope="session")
def deepseek_header(_real: None) -> Path:
    """Return the first 95 MB of a 7B model."""
    return real_programs.deepseek_header()


@pytest.fixture(autouse=True)
def user_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the settings and the notebook of each test in a folder of its own."""
    # mktemp reads the folder of all that it made before, for each of some ten thousand tests
    folder = tmp_path_factory.getbasetemp() / f"user{next(_NUMBERS)}"
    monkeypatch.setenv("SLOWSCOPE_DATA", str(folder / "data"))
    monkeypatch.setenv("SLOWSCOPE_CONFIG", str(folder / "config"))
    monkeypatch.setenv("SLOWSCOPE_CACHE", str(folder / "cache"))
    return folder


@pytest.fixture(autouse=True)
def nothing_left_running(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a thread, a pool job, a timer or a process behind."""
    threads_before = set(threading.enumerate())
    processes_before = _children()
    yield
    left = [f"thread {thread.name}" for thread in set(threading.enumerate()) - threads_before
            # what Python makes up for a thread of Qt's pool, and keeps when that has ended
            if not isinstance(thread, threading._DummyThread)]  # fmt: skip
    left += [f"process {name}" for name in _children() - processes_before]
    if {"qapp", "qtbot"} & set(request.fixturenames):
        left += _running_in_qt()
    assert not left, f"left running: {', '.join(sorted(left))}"


def _children() -> set[str]:
    names: set[str] = set()
    for child in psutil.Process().children(recursive=True):
        try:
            # a zombie is a process that ended and whose object still exists
            if child.status() != psutil.STATUS_ZOMBIE:
                names.add(f"{child.pid} {child.name()}")
        except psutil.NoSuchProcess:
            continue
    return names


def _running_in_qt() -> list[str]:
    """Return the timers and pools that still run; Qt keeps no list of them, Python's heap does."""
    import shiboken6
    from PySide6.QtCore import QCoreApplication, QEvent, QThreadPool, QTimer

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = []
    for thing in gc.get_objects():
        if not issubclass(type(thing), QTimer | QThreadPool) or not shiboken6.isValid(thing):
            continue
        if isinstance(thing, QTimer) and thing.isActive():
            owner = thing.parent()
            left.append(f"timer {thing.objectName()} of {type(owner).__name__}")
        if isinstance(thing, QThreadPool) and not thing.waitForDone(5000):
            left.append(f"{thing.activeThreadCount()} pool jobs")
    return left
