"""Watches memory, processor and GPUs beside a measurement."""

import os
from collections import deque
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Slot

from app.core.evidence import GpuWatch, MemoryWatch
from app.core.gpu_watch import gpu_watch
from app.core.live import LiveReading
from app.core.live_track import track_of
from app.core.track import Track
from app.probes.sampler import Meter, Sampler
from app.rules.machine_busy import LARGEST_SHARE
from app.work.jobs import Jobs
from app.work.live import Live

INTERVAL_MS = 500
MOST_READINGS = 7200  # an hour; of a longer run the last hour is kept


@dataclass(frozen=True, slots=True)
class Watched:
    """What the computer did meanwhile; gpu None = no GPU told anything."""

    memory: MemoryWatch
    gpu: GpuWatch | None = None
    track: Track | None = None


class Watch(QObject):
    """Samples twice a second between start and stop; GPUs in a job, since drivers may be slow."""

    def __init__(
        self,
        jobs: Jobs,
        parent: QObject | None = None,
        *,
        meter: Meter | None = None,
        live: Live | None = None,
        also: frozenset[int] = frozenset(),
    ) -> None:
        """Watch; also are processes whose work is the run's own, though they are not ours."""
        super().__init__(parent)
        # the programs that we run are our children, so their work counts as the run's own
        self._sampler = Sampler(lambda: frozenset({os.getpid()}) | also, meter)
        self._live = live or Live(jobs, parent=self)
        self._live.read.connect(self._on_read)
        self._readings: deque[LiveReading] = deque(maxlen=MOST_READINGS)
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.sample)

    def start(self) -> None:
        """Take the first reading; a second start changes nothing."""
        if not self._timer.isActive():
            self._readings.clear()
            self._sampler.start()
            self._live.start()
            self._timer.start()

    @Slot()
    def sample(self) -> None:
        """Take a reading now, for example before a program ends and its counters are gone."""
        if self._timer.isActive():
            self._sampler.sample()

    def stop(self) -> Watched | None:
        """Return what was seen, None when it was never started."""
        if not self._timer.isActive():
            return None
        self._timer.stop()
        source = self._live.source
        self._live.stop()
        return summed_up(self._sampler.result(), tuple(self._readings), source)

    @Slot(object)
    def _on_read(self, reading: LiveReading) -> None:
        self._readings.append(reading)


def summed_up(memory: MemoryWatch, readings: tuple[LiveReading, ...], source: str = "") -> Watched:
    """Sum up readings that are complete."""
    heat = [r.cpu_throttles for r in readings if r.cpu_throttles is not None]
    if heat:
        memory = replace(memory, n_cpu_thermal=sum(1 for times in heat if times))
    return Watched(memory, gpu_watch(readings, source), track_of(readings, source))


def busy_text(watch: MemoryWatch | None) -> str:
    """Say in words that other programs computed meanwhile, "" when they did not."""
    if watch is None or watch.other_cpu_max is None or not watch.cores:
        return ""
    if watch.other_cpu_max / watch.cores <= LARGEST_SHARE:
        return ""
    return f"other programs used up to {watch.other_cpu_max:.1f} of {watch.cores} processor cores"
