"""Watches memory and processor use beside a measurement."""

import os

from PySide6.QtCore import QObject, QTimer, Slot

from app.core.evidence import MemoryWatch
from app.probes.sampler import Meter, Sampler
from app.rules.machine_busy import LARGEST_SHARE

INTERVAL_MS = 500


class Watch(QObject):
    """Samples twice a second between start and stop."""

    def __init__(self, parent: QObject | None = None, meter: Meter | None = None) -> None:
        super().__init__(parent)
        # the programs that we run are our children, so their work counts as the run's own
        self._sampler = Sampler(lambda: frozenset({os.getpid()}), meter)
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.sample)

    def start(self) -> None:
        """Take the first reading; a second start changes nothing."""
        if not self._timer.isActive():
            self._sampler.start()
            self._timer.start()

    @Slot()
    def sample(self) -> None:
        """Take a reading now, for example before a program ends and its counters are gone."""
        if self._timer.isActive():
            self._sampler.sample()

    def stop(self) -> MemoryWatch | None:
        """Return what was seen, None when it was never started."""
        if not self._timer.isActive():
            return None
        self._timer.stop()
        return self._sampler.result()


def busy_text(watch: MemoryWatch | None) -> str:
    """Say in words that other programs computed meanwhile, "" when they did not."""
    if watch is None or watch.other_cpu_max is None or not watch.cores:
        return ""
    if watch.other_cpu_max / watch.cores <= LARGEST_SHARE:
        return ""
    return f"other programs used up to {watch.other_cpu_max:.1f} of {watch.cores} processor cores"
