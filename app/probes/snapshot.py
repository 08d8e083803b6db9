"""One look at a machine: what is costly to ask is asked once, also by several threads."""

from collections.abc import Sequence
from threading import Lock

from app.core.host import Basics, CommandResult, Host, Listener, NvmlAnswer, ProcessInfo
from app.probes.forwarding import ForwardingHost


class _Once:
    """A command's answer, when it is there."""

    __slots__ = ("answer", "lock")

    def __init__(self) -> None:
        self.lock = Lock()
        self.answer: CommandResult | None = None


class Snapshot(ForwardingHost):
    """Keeps the processes, the listening ports, the basics and NVIDIA's answer of one moment."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._processes: tuple[ProcessInfo, ...] | None = None
        self._listeners: tuple[Listener, ...] | None = None
        self._basics: Basics | None = None
        self._nvml: NvmlAnswer | None = None
        # psutil and NVIDIA's library are asked by one thread at a time
        self._psutil, self._library = Lock(), Lock()
        self._commands: dict[tuple[str, ...], _Once] = {}
        self._table = Lock()

    def run(self, argv: Sequence[str], timeout_s: float = 2.0) -> CommandResult:
        """Return the answer of the first time that this very command was asked for."""
        words = tuple(argv)
        with self._table:
            once = self._commands.setdefault(words, _Once())
        with once.lock:  # who asks for the same meanwhile waits for this answer
            if once.answer is None:
                once.answer = super().run(words, timeout_s)
            return once.answer

    def processes(self) -> tuple[ProcessInfo, ...]:
        """Return the processes of the first time this was asked."""
        with self._psutil:
            if self._processes is None:
                self._processes = super().processes()
            return self._processes

    def listeners(self) -> tuple[Listener, ...]:
        """Return the listening ports of the first time this was asked."""
        with self._psutil:
            if self._listeners is None:
                self._listeners = super().listeners()
            return self._listeners

    def basics(self) -> Basics:
        """Return the basics of the first time this was asked."""
        with self._psutil:
            if self._basics is None:
                self._basics = super().basics()
            return self._basics

    def nvml(self) -> NvmlAnswer:
        """Return NVIDIA's answer of the first time this was asked."""
        with self._library:
            if self._nvml is None:
                self._nvml = super().nvml()
            return self._nvml
