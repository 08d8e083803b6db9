"""The live strips of the GPUs: use, memory, clocks, heat, power and link, with their limits."""

from collections.abc import Callable
from dataclasses import replace

from app.core import units
from app.core.live import GpuReading, LiveReading
from app.ui.models import live_axis
from app.ui.models.live_history import Group, History, Strip, Trace, is_known

EDGE = 1.25  # of a limit, so that its line and its text can be seen
_MOST_GPUS = 4  # more would not fit on a screen
_MOST_WHOLE = 2  # cards of which everything is drawn; of more the three that matter most
_HOT = 110.0  # °C at the upper edge
_LEAST_MHZ, _LEAST_WATTS, _LEAST_LINK = 500.0, 50.0, 1e9

Value = Callable[[GpuReading], float | None]


def groups(history: History) -> tuple[Group, ...]:
    """Return the strips of each GPU that tells anything; what it does not tell has no strip."""
    last = history.last
    gpus = last.gpus if last else ()
    found = []
    for index in _drawn(history, len(gpus)):
        gpu = gpus[index]
        card = _Card(history, index, gpu)
        made = [card.use(), card.memory(), card.clocks()]
        if len(gpus) <= _MOST_WHOLE:
            made += [card.heat(), card.power(), card.link()]
        strips = tuple(strip for strip in made if any(is_known(t.points) for t in strip.traces))
        if strips:
            found.append(Group(f"GPU {index}: {gpu.name}", strips, gpu.source))
    if found and len(gpus) > _MOST_GPUS:
        title = f"{found[-1].title} ({len(gpus) - _MOST_GPUS} that do less are not drawn)"
        found[-1] = replace(found[-1], title=title)
    return tuple(found)


def _drawn(history: History, count: int) -> tuple[int, ...]:
    """Return the cards to draw: all, or of many those that did most in the last minute."""
    if count <= _MOST_GPUS:
        return tuple(range(count))

    def work(index: int) -> float:
        return sum(r.gpus[index].busy or 0.0 for r in history.readings if index < len(r.gpus))

    return tuple(sorted(sorted(range(count), key=work, reverse=True)[:_MOST_GPUS]))


class _Card:
    """Makes the strips of one card."""

    def __init__(self, history: History, index: int, gpu: GpuReading) -> None:
        self._history = history
        self._index = index
        self._gpu = gpu

    def use(self) -> Strip:
        """Return how much of the time it computed, and moved its memory."""
        traces = [self._trace("computes", "accent", lambda g: g.busy)]
        memory = self._trace("memory", "host", lambda g: g.memory_busy, is_dashed=True)
        if is_known(memory.points):
            traces.append(memory)
        now = units.percent(self._gpu.busy, 0)
        strip = Strip("In use", now, 1.0, "100 %", tuple(traces), words=units.whole_percent)
        return self._own(strip)

    def memory(self) -> Strip:
        """Return what all programs hold in its memory."""
        total = self._gpu.memory_total_bytes
        used = self._trace("memory", "accent", lambda g: g.memory_used_bytes)
        now = units.gib(self._gpu.memory_used_bytes)
        strip = Strip("Memory", now, float(total or 1) * EDGE, "", (used,), words=units.gib)
        if total:
            strip = replace(strip, limit=float(total), limit_text=f"all {units.gib(total)}")
        return self._own(strip, "memory")

    def clocks(self) -> Strip:
        """Return both clocks; the one of the memory decides how fast it writes."""
        traces = (
            self._trace("memory", "accent", lambda g: g.memory_clock_mhz),
            self._trace("computing", "host", lambda g: g.clock_mhz, is_dashed=True),
        )
        top = live_axis.plain_top(traces, _LEAST_MHZ)
        now = units.mhz(self._gpu.memory_clock_mhz)
        if self._gpu.clock_mhz is not None:
            now = f"{now}, computing {units.mhz(self._gpu.clock_mhz)}"
        strip = Strip("Clocks", now, top, units.mhz(top), traces, words=units.mhz)
        return self._own(strip, "clock")

    def heat(self) -> Strip:
        """Return its temperature against the one at which it slows down."""
        limit = self._gpu.temperature_limit
        traces = (self._trace("temperature", "host", lambda g: g.temperature),)
        now = units.degrees(self._gpu.temperature)
        strip = Strip("Temperature", now, _HOT, units.degrees(_HOT), traces, words=units.degrees)
        if limit:
            text = f"limit {units.degrees(limit)}"
            strip = replace(strip, top_text="", limit=limit, limit_text=text)
        return self._own(strip, "heat")

    def power(self) -> Strip:
        """Return its power against the limit in force."""
        limit = self._gpu.power_limit_w
        traces = (self._trace("power", "accent", lambda g: g.power_w),)
        top = limit * EDGE if limit else live_axis.plain_top(traces, _LEAST_WATTS)
        strip = Strip("Power", units.watts(self._gpu.power_w), top, "", traces, words=units.watts)
        if limit:
            strip = replace(strip, limit=limit, limit_text=f"limit {units.watts(limit)}")
        else:
            strip = replace(strip, top_text=units.watts(top))
        return self._own(strip, "power")

    def link(self) -> Strip:
        """Return what crosses PCIe in both directions, and how wide it is."""
        gpu = self._gpu
        traces = (self._trace("link", "accent", lambda g: g.link_bytes_s),)
        top = live_axis.plain_top(traces, _LEAST_LINK)
        now = units.bandwidth(gpu.link_bytes_s)
        if gpu.link_generation is not None and gpu.link_width is not None:
            now += f", PCIe {gpu.link_generation}, {gpu.link_width} lanes"
        words = units.bandwidth
        return self._own(Strip("Link", now, top, words(top), traces, words=words))

    def _trace(self, name: str, role: str, value: Value, *, is_dashed: bool = False) -> Trace:
        return Trace(name, role, self._history.points(_of(self._index, value)), is_dashed)

    def _own(self, strip: Strip, subject: str = "") -> Strip:
        """Return the strip with its source and with the limits that were reached."""
        marks = self._history.marks(f"gpu.{self._index}.{subject}") if subject else ()
        return replace(strip, marks=marks, source=self._gpu.source)


def _of(index: int, value: Value) -> Callable[[LiveReading], float | None]:
    def read(reading: LiveReading) -> float | None:
        return value(reading.gpus[index]) if index < len(reading.gpus) else None

    return read
