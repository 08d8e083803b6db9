"""What the runtimes' processes use at this moment: cores, memory, card memory."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import psutil

from app.core.host import ProcessInfo
from app.core.live import ProcessReading
from app.core.secrets import hidden_argv

T = TypeVar("T")
Name = Callable[[ProcessInfo], str]  # a runtime's title, "" for any other program

_LOOK_EVERY_S = 2.0
_LOOKS = 2  # a program that starts another in its place has its new name only at the second look
_MOST = 6


@dataclass(slots=True)
class _Known:
    """A process that was looked at; title "" = no runtime's, as far as was seen."""

    process: psutil.Process
    title: str = ""
    command: str = ""
    looks: int = 0
    cpu_s: float | None = None
    at_s: float = 0.0


class ProcessMeter:
    """Finds the processes of runtimes by name; each is asked for its command line once or twice."""

    def __init__(self, name: Name, own: frozenset[int] = frozenset()) -> None:
        """Take what tells a runtime by its process; own are processes that count in any case."""
        self._name = name
        self._own = own
        self._known: dict[int, _Known] = {}
        self._looked_at_s: float | None = None

    def read(self, gpu_bytes: dict[int, int]) -> tuple[ProcessReading, ...]:
        """Return a reading of each; gpu_bytes is what the drivers tell by process."""
        now = time.monotonic()
        if self._looked_at_s is None or now - self._looked_at_s >= _LOOK_EVERY_S:
            self._looked_at_s = now
            self._look()
        found = []
        for known in [one for one in self._known.values() if one.title][:_MOST]:
            reading = _reading(known, gpu_bytes.get(known.process.pid))
            if reading is not None:
                found.append(reading)
        return tuple(found)

    def _look(self) -> None:
        pids = psutil.pids()
        for gone in self._known.keys() - set(pids):
            del self._known[gone]
        for pid in pids:
            known = self._known.get(pid)
            if known is None:
                try:
                    known = self._known[pid] = _Known(psutil.Process(pid))
                except psutil.Error:
                    continue  # it has just ended
            if known.looks < _LOOKS and not known.title:
                known.looks += 1
                self._tell(known)

    def _tell(self, known: _Known) -> None:
        try:
            with known.process.oneshot():
                info = ProcessInfo(
                    known.process.pid,
                    known.process.name(),
                    _quietly(known.process.exe),
                    tuple(_quietly(known.process.cmdline) or ()),
                )
        except psutil.Error:
            return
        known.title = self._name(info) or (info.name if info.pid in self._own else "")
        known.command = " ".join(hidden_argv(info.argv)) if known.title else ""


def _reading(known: _Known, gpu_bytes: int | None) -> ProcessReading | None:
    """Return what a process uses, None when it has ended."""
    try:
        with known.process.oneshot():
            times, memory = known.process.cpu_times(), known.process.memory_info()
    except psutil.Error:
        return None
    now, used = time.monotonic(), times.user + times.system
    cores = None
    if known.cpu_s is not None and now > known.at_s:
        cores = max(0.0, used - known.cpu_s) / (now - known.at_s)
    known.cpu_s, known.at_s = used, now
    return ProcessReading(
        known.process.pid, known.title, known.command, cores, memory.rss, gpu_bytes
    )


def _quietly(ask: Callable[[], T]) -> T | None:
    """Return an answer that another user's process may refuse."""
    try:
        return ask()
    except (psutil.Error, OSError):
        return None
