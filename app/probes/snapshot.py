"""One look at a machine: what is costly to ask is asked once."""

from app.core.host import Basics, Host, Listener, ProcessInfo
from app.probes.forwarding import ForwardingHost


class Snapshot(ForwardingHost):
    """Keeps the processes, the listening ports and the basics of one moment."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._processes: tuple[ProcessInfo, ...] | None = None
        self._listeners: tuple[Listener, ...] | None = None
        self._basics: Basics | None = None

    def processes(self) -> tuple[ProcessInfo, ...]:
        """Return the processes of the first time this was asked."""
        if self._processes is None:
            self._processes = super().processes()
        return self._processes

    def listeners(self) -> tuple[Listener, ...]:
        """Return the listening ports of the first time this was asked."""
        if self._listeners is None:
            self._listeners = super().listeners()
        return self._listeners

    def basics(self) -> Basics:
        """Return the basics of the first time this was asked."""
        if self._basics is None:
            self._basics = super().basics()
        return self._basics
