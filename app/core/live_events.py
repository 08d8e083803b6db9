"""Tells when a limit begins to bite, from one live reading after the other."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from app.core import clock_reasons, units
from app.core.live import GpuReading, LiveReading
from app.core.track import LimitEvent

# from here the charts have a mark, and a rule a finding: spilling-to-swap, mapped-pages-evicted,
# windows-shared-memory
SWAP_FROM = 1 * units.MIB  # bytes per s
REFAULT_FROM = 16 * units.MIB  # bytes per s; file caches of other programs stay below
SPILL_FROM = 512 * units.MIB  # above what pinned buffers take on (advice.md part 3)
_CLOCK_FELL = 0.9  # of the highest of the last minute
_WORKS_FROM = 0.5  # of the time; an idle card lowers its clocks by itself
_FULL = 0.97
_AT_POWER_LIMIT = 0.98
_MINUTE = 120  # readings
_QUIET_S = 5.0  # a limit that bites again within this time is the same event


@dataclass(frozen=True, slots=True)
class _Seen:
    """A limit that bites in one reading."""

    subject: str
    text: str
    kind: str  # with the subject it tells whether it is the same event as before
    is_normal: bool = False


class EventFinder:
    """Takes readings in order and returns what begins with each; it keeps the last minute."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], float] = {}
        self._before: deque[LiveReading] = deque(maxlen=_MINUTE)
        self._least_spilled: int | None = None

    def add(self, reading: LiveReading) -> tuple[LimitEvent, ...]:
        """Return the limits that begin to bite with this reading."""
        found = []
        self._before.append(reading)
        for seen in self._seen(reading):
            key = (seen.subject, seen.kind)
            last = self._last.get(key)
            self._last[key] = reading.at_s
            if last is None or reading.at_s - last > _QUIET_S:
                found.append(LimitEvent(reading.at_s, seen.subject, seen.text, seen.is_normal))
        return tuple(found)

    def _seen(self, reading: LiveReading) -> Iterator[_Seen]:
        yield from _memory(reading)
        yield from _cpu(reading)
        yield from self._spilled(reading)
        for index, gpu in enumerate(reading.gpus):
            seen = tuple(r.gpus[index] for r in self._before if index < len(r.gpus))
            yield from _clocks(seen, index)
            yield from _card_limits(gpu, index)

    def _spilled(self, reading: LiveReading) -> Iterator[_Seen]:
        now = reading.spilled_bytes
        if now is None:
            return
        least = self._least_spilled = min(
            now, now if self._least_spilled is None else self._least_spilled
        )
        if now - least >= SPILL_FROM:
            text = f"card memory moves to system memory: {units.size(now - least)} more"
            yield _Seen("memory", text, "spilled")


def events_of(readings: tuple[LiveReading, ...]) -> tuple[LimitEvent, ...]:
    """Return all events of readings that are complete."""
    finder = EventFinder()
    return tuple(event for reading in readings for event in finder.add(reading))


def _memory(reading: LiveReading) -> Iterator[_Seen]:
    into, out = reading.swap_in_bytes_s or 0.0, reading.swap_out_bytes_s or 0.0
    if max(into, out) >= SWAP_FROM:
        rates = f"in {units.size(into)}/s, out {units.size(out)}/s"
        yield _Seen("swap", f"swap began: {rates}", "swap")
    again = reading.refault_bytes_s or 0.0
    if again >= REFAULT_FROM:
        text = f"pages of files are dropped and read again (refaults): {units.size(again)}/s"
        yield _Seen("swap", text, "refault")
    faults = reading.fault_bytes_s or 0.0
    if faults >= REFAULT_FROM:
        text = f"pages are read from the drive again (swap or files): {units.size(faults)}/s"
        yield _Seen("swap", text, "fault")
    if reading.limit_hits and reading.limit_bytes is not None:
        text = f"memory limit reached: {units.gib(reading.limit_bytes)} for this container"
        yield _Seen("memory", text, "limit")
    total, used = reading.memory_total_bytes, reading.memory_used_bytes
    if total and used is not None and used >= _FULL * total:
        text = f"memory is full: {units.gib(total - used)} of {units.gib(total)} available"
        yield _Seen("memory", text, "full")


def _cpu(reading: LiveReading) -> Iterator[_Seen]:
    if reading.cpu_throttles:
        clock = f" at {reading.cpu_mhz:,} MHz" if reading.cpu_mhz is not None else ""
        yield _Seen("cpu", f"the processor is held down{clock}: heat", "heat")


def _clocks(seen: tuple[GpuReading, ...], index: int) -> Iterator[_Seen]:
    """Tell clocks that fall, or are held down, while the card works; seen ends with the newest."""
    subject, gpu = f"gpu.{index}.clock", seen[-1]
    works = tuple(g for g in seen if g.busy is not None and g.busy >= _WORKS_FROM)
    if not works or works[-1] is not gpu:
        return
    reason = clock_reasons.why(gpu.clock_reasons) or "no reason told"
    highest = max((g.memory_clock_mhz or 0 for g in works), default=0)
    low = [g.memory_clock_mhz for g in works[-2:] if g.memory_clock_mhz]
    # two in a row: between two tests a card is idle for a moment
    if len(low) == 2 and max(low) < _CLOCK_FELL * highest:
        text = f"GPU {index}: memory clock fell from {highest:,} to {low[-1]:,} MHz: {reason}"
        yield _Seen(subject, text, "memory clock")
    samples = tuple((g.clock_reasons or 0, round(100 * (g.busy or 0.0))) for g in seen)
    faults = clock_reasons.faults(samples)
    if faults:
        clock = f" at {gpu.clock_mhz:,} MHz" if gpu.clock_mhz is not None else ""
        yield _Seen(subject, f"GPU {index}: clock held down{clock}: {', '.join(faults)}", "fault")


def _card_limits(gpu: GpuReading, index: int) -> Iterator[_Seen]:
    heat, most = gpu.temperature, gpu.temperature_limit
    if heat is not None and most is not None and heat >= most:
        text = f"GPU {index}: temperature at its limit: {heat:.0f} of {most:.0f} °C"
        yield _Seen(f"gpu.{index}.heat", text, "heat")
    power, limit = gpu.power_w, gpu.power_limit_w
    if power is not None and limit and power >= _AT_POWER_LIMIT * limit:
        text = f"GPU {index}: power limit reached: {limit:.0f} W (normal at full load)"
        yield _Seen(f"gpu.{index}.power", text, "power", is_normal=True)
    total, used = gpu.memory_total_bytes, gpu.memory_used_bytes
    if total and used is not None and used >= _FULL * total:
        text = f"GPU {index}: its memory is full: {units.gib(total - used)} free"
        yield _Seen(f"gpu.{index}.memory", text, "memory")
