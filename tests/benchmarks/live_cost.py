"""Counts what live values cost, in per cent of one core, in the real window.

`python -m tests.benchmarks.live_cost [SECONDS]`: with every kind of chart on the screen (this
computer, a recorded card, processes), with the tab hidden, and for the watch beside a measurement.
CPU time depends little on what else runs; still take a quiet computer. What a driver's own calls
cost is not in it, since the card is recorded. No test: it takes a minute.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer

from app.core.live import GpuReading
from app.probes.live import LiveMeter
from app.ui import start
from app.ui.main_window import MainWindow
from app.ui.tabs.hardware_tab import HardwareTab
from app.ui.widgets.live_panel import LivePanel
from app.ui.widgets.strip_chart import StripChart
from app.work.watch import Watch
from tests.live_recordings import readings

TARGET = 4.0  # per cent of one core with all charts visible (shipping.md section 5)
_FULL = 120  # readings: from the first measured second on a whole minute is drawn


class RecordedCard:
    """Plays a recorded card over and over."""

    def __init__(self) -> None:
        self._gpus = [reading.gpus for reading in readings()]
        self._next = 0

    def read(self) -> tuple[GpuReading, ...]:
        """Return the next reading."""
        self._next += 1
        return self._gpus[self._next % len(self._gpus)]


def main() -> int:
    """Measure and print; 1 when the charts cost more than they may."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    folder = Path(tempfile.mkdtemp())
    for name in ("DATA", "CONFIG", "CACHE"):
        os.environ[f"SLOWSCOPE_{name}"] = str(folder / name.lower())
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    window = start.make_window(start.make_application(["live-cost"]))
    window.resize(1920, 1200)
    window.show()
    charts = _fill(window)
    visible = _cost(seconds)
    window.show_tab("logs")
    _run(1.0)
    hidden = _cost(seconds)
    watch = Watch(window.session.jobs)
    watch.start()
    watched = _cost(seconds)
    watch.stop()
    window.close()
    print(f"{charts} charts visible: {visible:.1f} % of a core (at most {TARGET:g} %)")
    print(f"hidden: {hidden:.2f} %")
    print(f"watch beside a measurement: {watched:.2f} %")
    return 0 if visible < TARGET else 1


def _fill(window: MainWindow) -> int:
    """Bring all kinds of charts on the screen; return how many can be seen."""
    window.show_tab("hardware")
    window.detection.start()
    _wait(lambda: not window.detection.is_running)
    tab = window.findChild(HardwareTab)
    panel = window.findChild(LivePanel)
    assert tab is not None and panel is not None
    own = frozenset((os.getpid(), os.getppid()))
    panel._live._meter = LiveMeter(gpus=(RecordedCard(),), own=own)
    first = panel._live._meter.read()
    for _ in range(_FULL):
        panel._on_read(first)
    tab._scroll.verticalScrollBar().setValue(tab._live_card.y())
    _run(1.0)
    return sum(not chart.visibleRegion().isEmpty() for chart in panel.findChildren(StripChart))


def _cost(seconds: float) -> float:
    """Return the CPU time of all threads over the time that passes, in per cent."""
    before, at = time.process_time(), time.monotonic()
    _run(seconds)
    return 100 * (time.process_time() - before) / (time.monotonic() - at)


def _run(seconds: float) -> None:
    loop = QEventLoop()
    QTimer.singleShot(round(1000 * seconds), loop.quit)
    loop.exec()


def _wait(condition: Callable[[], bool]) -> None:
    while not condition():
        _run(0.1)


if __name__ == "__main__":
    sys.exit(main())
