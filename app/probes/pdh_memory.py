"""Windows' counters of paging, by ctypes: what was read and written since the last look."""

import mmap
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# PdhAddEnglishCounterW takes these on a Windows of any language
INPUT = r"\Memory\Pages Input/sec"  # read for faults: swap and mapped files together
OUTPUT = r"\Memory\Pages Output/sec"  # changed pages, so a model that was only read is not in it
PATHS = (INPUT, OUTPUT)
_MOST_PAGES_S = 10_000_000  # 40 GB/s: no disk reads more


@dataclass(frozen=True, slots=True)
class Paging:
    """Bytes since the first look; None = Windows did not tell, or at the first look."""

    input_bytes: int | None = None
    output_bytes: int | None = None


@dataclass(slots=True)
class PagingTotals:
    """Adds rates up to totals, as the counters of other systems are."""

    ask: Callable[[], Mapping[str, int]]
    clock: Callable[[], float] = time.monotonic
    _at_s: float | None = None
    _pages: dict[str, float] = field(default_factory=dict)

    def read(self) -> Paging:
        """Look once; a rate is of the time since the look before."""
        rates, now = self.ask(), self.clock()
        seconds = 0.0 if self._at_s is None else max(0.0, now - self._at_s)
        self._at_s = now
        for path in PATHS:
            rate = rates.get(path)
            if rate is not None and 0 <= rate <= _MOST_PAGES_S:
                self._pages[path] = self._pages.get(path, 0.0) + rate * seconds
        return Paging(self._bytes(INPUT), self._bytes(OUTPUT))

    def _bytes(self, path: str) -> int | None:
        pages = self._pages.get(path)
        return None if pages is None else round(pages) * mmap.PAGESIZE


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _LARGE = 0x400  # PDH_FMT_LARGE

    class _Value(ctypes.Structure):
        """PDH_FMT_COUNTERVALUE with a whole number."""

        _fields_ = (("status", wintypes.DWORD), ("value", ctypes.c_longlong))

    class _Query:
        """An open query of counters that have no instances."""

        def __init__(self) -> None:
            self._pdh = ctypes.windll.pdh
            self._query = ctypes.c_void_p()
            self._counters: list[tuple[str, ctypes.c_void_p]] = []
            if self._pdh.PdhOpenQueryW(None, None, ctypes.byref(self._query)) != 0:
                return
            for path in PATHS:
                counter = ctypes.c_void_p()
                add = self._pdh.PdhAddEnglishCounterW
                if add(self._query, path, None, ctypes.byref(counter)) == 0:
                    self._counters.append((path, counter))

        def read(self) -> dict[str, int]:
            """Return pages per second since the look before; empty at the first."""
            if not self._counters or self._pdh.PdhCollectQueryData(self._query) != 0:
                return {}
            found = {}
            for path, counter in self._counters:
                value = _Value()
                ask = self._pdh.PdhGetFormattedCounterValue
                # PDH_CSTATUS_VALID_DATA and _NEW_DATA; the first look of a rate is neither
                if ask(counter, _LARGE, None, ctypes.byref(value)) == 0 and value.status in (0, 1):
                    found[path] = int(value.value)
            return found

    def totals() -> PagingTotals | None:
        """Return the totals of this Windows."""
        return PagingTotals(_Query().read)

else:

    def totals() -> PagingTotals | None:
        """Return None: only Windows has these counters."""
        return None
