"""What every test gets: an offscreen Qt, the real programs, and proof that nothing is left over."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests import real_programs

# before anything imports Qt
if "--headed" not in sys.argv:
    os.environ["QT_QPA_PLATFORM"] = "offscreen"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --headed: watch the tests on the screen."""
    parser.addoption("--headed", action="store_true", help="show the windows on the screen")


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
    folder = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("SLOWSCOPE_DATA", str(folder / "data"))
    monkeypatch.setenv("SLOWSCOPE_CONFIG", str(folder / "config"))
    return folder


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a thread, a pool job, a timer or a process behind."""
    threads_before = set(threading.enumerate())
    processes_before = _children()
    timers_before = _active_timers()
    yield
    left = [f"pool job x {count}" for count in [_pool_jobs()] if count]
    left += [f"thread {thread.name}" for thread in set(threading.enumerate()) - threads_before]
    left += [f"timer {name}" for name in _active_timers() - timers_before]
    left += [f"process {name}" for name in _children() - processes_before]
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


def _pool_jobs() -> int:
    """Wait up to five seconds for the pool and return how many jobs still run."""
    if "PySide6.QtCore" not in sys.modules:
        return 0
    from PySide6.QtCore import QThreadPool

    pool = QThreadPool.globalInstance()
    return 0 if pool.waitForDone(5000) else pool.activeThreadCount()


def _active_timers() -> set[str]:
    """Return the timers that run and belong to a window that still exists."""
    if "PySide6.QtWidgets" not in sys.modules:
        return set()
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    if not isinstance(QApplication.instance(), QApplication):
        return set()
    return {
        f"{timer.objectName() or 'unnamed'} of {widget.objectName() or type(widget).__name__}"
        for widget in QApplication.topLevelWidgets()
        for timer in widget.findChildren(QTimer)
        if timer.isActive() and not timer.isSingleShot()
    }
