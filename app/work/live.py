"""Reads the live values twice a second while somebody looks, away from the window."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.core.live import LiveReading
from app.probes.live import LiveMeter
from app.runtimes.processes import title_of
from app.work.jobs import Job, Jobs

INTERVAL_MS = 500  # 2 Hz: shipping.md section 5


class Live(QObject):
    """Emits a reading twice a second between start and stop."""

    read = Signal(object)  # a LiveReading

    def __init__(
        self, jobs: Jobs, meter: LiveMeter | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._meter = meter or LiveMeter(name=title_of)
        self._job: Job | None = None
        self._must_close = False
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._on_time)

    @property
    def is_running(self) -> bool:
        """Tell whether readings are taken."""
        return self._timer.isActive()

    @property
    def source(self) -> str:
        """Name where the readings come from."""
        return self._meter.source()

    def start(self) -> None:
        """Take readings from now on."""
        if not self._timer.isActive():
            self._must_close = False
            self._timer.start()
            self._on_time()

    def stop(self) -> None:
        """Take none any more, and let go of the drivers' libraries."""
        if not self._timer.isActive():
            return
        self._timer.stop()
        if self._job is not None:
            self._must_close = True
            self._job.cancel()
            return
        meter = self._meter
        self._job = self._jobs.start(lambda _cancel, _progress: meter.close(), name="live")
        self._job.finished.connect(self._on_finished)

    @Slot()
    def _on_time(self) -> None:
        # one at a time: a computer that is out of memory may take longer than the interval
        if self._job is not None:
            return
        meter = self._meter  # not self: its last reference may not go on the pool's thread
        self._job = self._jobs.start(lambda _cancel, _progress: meter.read(), name="live")
        self._job.done.connect(self._on_read)
        self._job.finished.connect(self._on_finished)

    @Slot(object)
    def _on_read(self, reading: LiveReading) -> None:
        if self.is_running:
            self.read.emit(reading)

    @Slot()
    def _on_finished(self) -> None:
        self._job = None
        if self._must_close:  # here and not in a job: those may all have been told to end
            self._must_close = False
            self._meter.close()
