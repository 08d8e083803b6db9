"""Windows' performance counters of graphics memory, by ctypes; names and sums are plain text."""

import re
import sys
from dataclasses import dataclass

from app.core.host import CounterValue

# PdhAddEnglishCounterW takes these on a Windows of any language
PATHS = (
    r"\GPU Adapter Memory(*)\Dedicated Usage",
    r"\GPU Adapter Memory(*)\Shared Usage",
    r"\GPU Process Memory(*)\Local Usage",
    r"\GPU Process Memory(*)\Non Local Usage",
)
_INSTANCE = re.compile(
    r"(?:pid_(?P<pid>[0-9]{1,10})_)?luid_0x(?P<high>[0-9a-f]{1,8})_0x(?P<low>[0-9a-f]{1,8})"
    r"_phys_(?P<phys>[0-9]{1,3})",
    re.IGNORECASE,
)
ENGINES = r"\GPU Engine(*)\Utilization Percentage"  # a rate: it needs two looks of one query
_ENGINE = re.compile(r"_eng_(?P<engine>[0-9]{1,3})_engtype_", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Instance:
    """What the name of a counter's instance tells; pid None = of the whole adapter."""

    luid: str  # as DXGI writes it here: 0x<high>_0x<low>
    pid: int | None


def parse_instance(name: str) -> Instance | None:
    """Read pid_14872_luid_0x00000000_0x0000D1E5_phys_0, None for any other text."""
    match = _INSTANCE.match(name)
    if match is None:
        return None
    luid = f"0x{int(match['high'], 16):08x}_0x{int(match['low'], 16):08x}"
    return Instance(luid, int(match["pid"]) if match["pid"] else None)


def used_bytes(values: tuple[CounterValue, ...], luid: str, counter: str) -> int | None:
    """Return an adapter's sum of a counter over all programs, None when it has none."""
    found = [
        value.value
        for value in values
        if value.counter == counter
        and (instance := parse_instance(value.instance)) is not None
        and (instance.luid, instance.pid) == (luid, None)
    ]
    return sum(found) if found else None


def busy_share(values: tuple[CounterValue, ...], luid: str) -> float | None:
    """Return how busy the busiest engine of an adapter is, all programs together, 0 to 1."""
    by_engine: dict[str, int] = {}
    for value in values:
        engine = _ENGINE.search(value.instance)
        instance = parse_instance(value.instance)
        if engine is None or instance is None or instance.luid != luid:
            continue
        number = engine["engine"]
        by_engine[number] = by_engine.get(number, 0) + value.value
    return min(1.0, max(by_engine.values()) / 100) if by_engine else None


def process_bytes(
    values: tuple[CounterValue, ...], counter: str, luids: frozenset[str]
) -> dict[int, int]:
    """Return a counter's bytes by process over some adapters."""
    found: dict[int, int] = {}
    for value in values:
        instance = parse_instance(value.instance) if value.counter == counter else None
        if instance is not None and instance.pid is not None and instance.luid in luids:
            found[instance.pid] = found.get(instance.pid, 0) + value.value
    return found


def spilled_bytes(
    values: tuple[CounterValue, ...], pid: int, luid: str, pinned_bytes: int = 0
) -> int | None:
    """Return what a program keeps outside the card beyond its own host buffers; None = not told.

    Dedicated and Shared Usage count what was promised, not what is there: they are not used.
    """
    found = [
        value.value
        for value in values
        if value.counter == "Non Local Usage"
        and parse_instance(value.instance) == Instance(luid, pid)
    ]
    return max(0, sum(found) - pinned_bytes) if found else None


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _LARGE, _MORE_DATA = 0x400, 0x800007D2

    class _Item(ctypes.Structure):
        """PDH_FMT_COUNTERVALUE_ITEM_W with a whole number."""

        _fields_ = (
            ("name", wintypes.LPWSTR),
            ("status", wintypes.DWORD),
            ("value", ctypes.c_longlong),
        )

    class Query:
        """An open query: the second look costs 0.1 ms, and rates count from the look before."""

        def __init__(self, paths: tuple[str, ...] = PATHS) -> None:
            self._pdh = ctypes.windll.pdh
            self._query = ctypes.c_void_p()
            self._counters: list[tuple[str, ctypes.c_void_p]] = []
            if self._pdh.PdhOpenQueryW(None, None, ctypes.byref(self._query)) != 0:
                return
            for path in paths:
                counter = ctypes.c_void_p()
                add = self._pdh.PdhAddEnglishCounterW
                if add(self._query, path, None, ctypes.byref(counter)) == 0:
                    self._counters.append((path.rpartition("\\")[2], counter))

        def read(self) -> tuple[CounterValue, ...] | None:
            """Look once; None when Windows has no such counters."""
            if not self._counters or self._pdh.PdhCollectQueryData(self._query) != 0:
                return None
            found = (_values(self._pdh, name, counter) for name, counter in self._counters)
            return tuple(value for values in found for value in values)

        def close(self) -> None:
            """Let go of the query."""
            if self._query:
                self._pdh.PdhCloseQuery(self._query)
            self._query, self._counters = ctypes.c_void_p(), []

    def collect() -> tuple[CounterValue, ...] | None:
        """Ask once, 0.2 s the first time; None when Windows has no such counters."""
        query = Query()
        try:
            return query.read()
        finally:
            query.close()

    def _values(pdh: ctypes.WinDLL, name: str, counter: ctypes.c_void_p) -> list[CounterValue]:
        size, count = wintypes.DWORD(0), wintypes.DWORD(0)
        ask = pdh.PdhGetFormattedCounterArrayW
        status = ask(counter, _LARGE, ctypes.byref(size), ctypes.byref(count), None)
        if status & 0xFFFFFFFF != _MORE_DATA:
            return []
        buffer = ctypes.create_string_buffer(size.value)
        if ask(counter, _LARGE, ctypes.byref(size), ctypes.byref(count), buffer) != 0:
            return []
        items = ctypes.cast(buffer, ctypes.POINTER(_Item))
        return [
            CounterValue(items[i].name or "", name, items[i].value)
            for i in range(count.value)
            if items[i].status in (0, 1)
        ]

else:

    class Query:
        """Only Windows has these counters."""

        def __init__(self, paths: tuple[str, ...] = PATHS) -> None:
            self._paths = paths

        def read(self) -> tuple[CounterValue, ...] | None:
            """Return None."""
            return None

        def close(self) -> None:
            """Do nothing."""

    def collect() -> tuple[CounterValue, ...] | None:
        """Return None: only Windows has these counters."""
        return None
