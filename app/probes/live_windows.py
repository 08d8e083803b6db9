"""What graphics cards do on Windows at this moment, by its counters: all makers but NVIDIA."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.core.host import Adapter, CounterValue, Host
from app.core.live import GpuReading
from app.probes import pdh

_NVIDIA, _MICROSOFT = 0x10DE, 0x1414  # NVIDIA's own library tells more of its cards
_SMALL_BYTES = 2 << 30  # an integrated GPU has less of its own, and always works in shared memory
_MAX_GPUS = 4


class Counters(Protocol):
    """An open query of counters."""

    def read(self) -> tuple[CounterValue, ...] | None:
        """Return the values now, None where there are none."""

    def close(self) -> None:
        """Let go of it."""


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """What each process holds on cards, and beside them in system memory, in bytes."""

    on_card: dict[int, int]
    spilled: dict[int, int]


def _open() -> Counters:
    return pdh.Query((*pdh.PATHS, pdh.ENGINES))


class WindowsMeter:
    """Keeps the query open between readings; use it from one thread at a time."""

    def __init__(self, host: Host, open_query: Callable[[], Counters] = _open) -> None:
        self._host = host
        self._open_query = open_query
        self._query: Counters | None = None
        self._adapters: tuple[Adapter, ...] = ()
        self._values: tuple[CounterValue, ...] = ()

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of each card; empty on other systems."""
        if self._host.platform() != "win32":
            return ()
        if self._query is None:
            self._query = self._open_query()
            found = self._host.basics().adapters or ()
            self._adapters = tuple(a for a in found if not a.is_software and a.vendor != _MICROSOFT)
        self._values = self._query.read() or ()
        others = [adapter for adapter in self._adapters if adapter.vendor != _NVIDIA]
        return tuple(self._card(adapter) for adapter in others[:_MAX_GPUS])

    def process_memory(self) -> ProcessMemory:
        """Return what processes held at the last reading; spilled counts cards with own memory."""
        cards = frozenset(a.luid for a in self._adapters if a.own_bytes >= _SMALL_BYTES)
        every = frozenset(adapter.luid for adapter in self._adapters)
        return ProcessMemory(
            pdh.process_bytes(self._values, "Local Usage", every),
            pdh.process_bytes(self._values, "Non Local Usage", cards),
        )

    def close(self) -> None:
        """Let go of the query; the next reading opens another."""
        if self._query is not None:
            self._query.close()
        self._query = None

    def _card(self, adapter: Adapter) -> GpuReading:
        is_integrated = adapter.own_bytes < _SMALL_BYTES
        counter = "Shared Usage" if is_integrated else "Dedicated Usage"
        return GpuReading(
            name=adapter.name,
            busy=pdh.busy_share(self._values, adapter.luid),
            memory_used_bytes=pdh.used_bytes(self._values, adapter.luid, counter),
            memory_total_bytes=adapter.shared_bytes if is_integrated else adapter.own_bytes,
            source="GPU counters of Windows, and DXGI",
        )
