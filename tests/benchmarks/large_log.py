"""Opens a log of five million lines in the real window and prints how that felt.

`xvfb-run -a python -m tests.benchmarks.large_log [--gib 2] [--picture P.png]`. No test: it takes
minutes, and with --gib as much space where temporary files are.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QComboBox, QLineEdit

from app.core.units import GIB, MIB
from app.ui import start
from app.ui.tabs.logs_tab import LogsTab
from app.ui.widgets.log_view import LogView

LINES = 5_000_000
SOURCE = Path(__file__).parents[1] / "data" / "logs" / "b11434-cpu-verbose.log"
# as a verbose server prints a request; such lines make the log as large as it is asked to be
LONG = b'1.02.003.004 D srv  log_server_r: request:  {"prompt":"%s"}\n' % (b"some text " * 110)
_TICK_MS = 5
_SMALL = 10_000  # lines; the log that is opened first has fewer
_PATIENCE_S = 300.0


class Probe(QObject):
    """Ticks in the event loop; a late tick is how long the window could not answer."""

    def __init__(self) -> None:
        super().__init__()
        self._process = psutil.Process()
        self._last = time.perf_counter()
        self.worst_ms = 0.0
        self.late: list[float] = []
        self.most_bytes = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        self._timer.start()

    def begin(self) -> None:
        """Measure anew."""
        self._last = time.perf_counter()
        self.worst_ms = 0.0
        self.late.clear()

    def _on_tick(self) -> None:
        now = time.perf_counter()
        gap = 1000 * (now - self._last) - _TICK_MS
        self._last = now
        self.worst_ms = max(self.worst_ms, gap)
        if gap > 50:
            self.late.append(gap)
        self.most_bytes = max(self.most_bytes, self._process.memory_info().rss)


def write_log(path: Path, n_lines: int = LINES, n_bytes: int = 0) -> None:
    """Write one load, and then its requests again and again; long lines make it n_bytes."""
    text = SOURCE.read_bytes()
    cut = text.index(b"\n", text.index(b"listening on")) + 1
    head, body = text[:cut], text[cut:].rsplit(b"\n", 1)[0] + b"\n"
    n_short, wanted = body.count(b"\n"), n_bytes / n_lines
    if wanted > len(body) / n_short:
        n_long = round((wanted * n_short - len(body)) / (len(LONG) - wanted))
        body = _mixed(body.splitlines(keepends=True), n_long)
    per_body = body.count(b"\n")
    with path.open("wb") as file:
        file.write(head)
        for _ in range((n_lines - head.count(b"\n")) // per_body + 1):
            file.write(body)


def _mixed(lines: list[bytes], n_long: int) -> bytes:
    """Return the lines with long ones spread over them."""
    mixed, done = list[bytes](), 0
    for i, line in enumerate(lines, 1):
        mixed.append(line)
        upto = n_long * i // len(lines)
        mixed += [LONG] * (upto - done)
        done = upto
    return b"".join(mixed)


class Driver:
    """Drives the window as a user does, and prints each figure."""

    def __init__(self, path: Path, picture: Path | None) -> None:
        self._path, self._picture = path, picture
        self._app = start.make_application(["large-log"])
        self._probe = Probe()  # its ticks also keep the loop going
        self._window = start.make_window(self._app)
        self._window.resize(1280, 800)
        self._window.show()
        tab = self._window.show_tab("logs")
        assert isinstance(tab, LogsTab)
        self._tab = tab
        view = tab.findChild(LogView, "logView")
        assert view is not None
        self._view = view
        self._session = self._window.session
        self._open(SOURCE)  # all parts are loaded now; what follows is the log's own
        start.settle()

    def run(self) -> None:
        """Open, scroll, search, filter and follow."""
        before = psutil.Process().memory_info().rss
        self._say("file", f"{self._path.stat().st_size / MIB:,.0f} MiB")
        begun = time.perf_counter()
        self._session.open_paths([str(self._path)])
        self._wait(lambda: self._view.n_rows > _SMALL)
        self._say("first lines", f"{1000 * (time.perf_counter() - begun):.0f} ms")
        self._probe.begin()
        self._scroll_while(lambda: self._session.jobs.running() > 0)
        self._say("read and marked", f"{time.perf_counter() - begun:.1f} s, {self._late()}")
        self._say("lines", f"{self._view.n_rows:,}")
        self._scroll(200)
        self._search("no such text")
        self._search("offloaded")
        self._rows("Warnings and errors")
        self._rows("All lines")
        self._follow()
        self._say("memory added", f"{(self._probe.most_bytes - before) / MIB:.0f} MiB")
        if self._picture is not None:
            self._window.grab().save(str(self._picture))
        self._window.close()

    def _open(self, path: Path) -> None:
        self._session.open_paths([str(path)])
        self._wait(lambda: self._session.log_path == str(path) and not self._busy())

    def _busy(self) -> bool:
        return self._session.jobs.running() > 0

    def _scroll_while(self, is_going: Callable[[], bool]) -> None:
        bar = self._view.verticalScrollBar()
        while is_going():
            bar.setValue((bar.value() * 7919 + 104_729) % max(1, bar.maximum()))
            _pass(10)

    def _scroll(self, steps: int) -> None:
        self._probe.begin()
        bar = self._view.verticalScrollBar()
        for step in range(steps):
            bar.setValue(bar.maximum() * step // steps)
            _pass(5)
        self._say("scroll to the end", self._late())

    def _search(self, text: str) -> None:
        field = self._tab.findChild(QLineEdit, "logSearch")
        assert field is not None
        self._probe.begin()
        begun = time.perf_counter()
        field.setText(text)
        _pass(200)  # the field waits for the next letter
        self._wait(lambda: not self._busy())
        took = time.perf_counter() - begun
        self._say(f"search “{text}”", f"{took:.1f} s, {self._late()}")

    def _rows(self, name: str) -> None:
        box = self._tab.findChild(QComboBox, "logRows")
        assert box is not None
        self._probe.begin()
        begun = time.perf_counter()
        box.setCurrentText(name)
        _pass(20)
        self._wait(lambda: not self._busy())
        took = time.perf_counter() - begun
        self._say(f"show {name}", f"{self._view.n_rows:,} in {took:.1f} s, {self._late()}")

    def _follow(self) -> None:
        n_rows = self._view.n_rows
        self._probe.begin()
        begun = time.perf_counter()
        with self._path.open("ab") as file:
            file.write(b"0.00.000.000 I one more line\n" * 1000)
        self._wait(lambda: self._view.n_rows >= n_rows + 1000)
        self._say("a thousand lines more", f"{time.perf_counter() - begun:.2f} s, {self._late()}")

    def _late(self) -> str:
        late = self._probe.late
        return f"window late by at most {self._probe.worst_ms:.0f} ms ({len(late)} times over 50)"

    @staticmethod
    def _say(what: str, figure: str) -> None:
        print(f"{what:24} {figure}", flush=True)

    @staticmethod
    def _wait(is_done: Callable[[], bool]) -> None:
        end = time.perf_counter() + _PATIENCE_S
        while not is_done():
            if time.perf_counter() > end:
                raise TimeoutError
            _pass(5)


def _pass(ms: int) -> None:
    """Let the window work for so long."""
    end = time.perf_counter() + ms / 1000
    while time.perf_counter() < end:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def main() -> int:
    """Write the log into a folder of its own and open it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=0.0, help="size of the log; 0 = as lines are")
    parser.add_argument("--picture", type=Path, help="where to keep a picture of the window")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATA", "CONFIG", "CACHE"):
            os.environ[f"SLOWSCOPE_{name}"] = str(Path(folder) / name.lower())
        path = Path(folder) / "large.log"
        write_log(path, n_bytes=round(asked.gib * GIB))
        Driver(path, asked.picture).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
