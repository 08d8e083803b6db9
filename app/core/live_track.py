"""Live readings as a track of series, and back: what evidence keeps of a measurement."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from app.core.live import GpuReading, LiveReading, ProcessReading
from app.core.live_events import events_of
from app.core.track import Series, Track

MOST_POINTS = 240  # two minutes as they were read; longer ones are thinned
_PLAIN = (
    "cpu_share", "memory_used_bytes", "memory_total_bytes", "swap_in_bytes_s", "swap_out_bytes_s",
    "refault_bytes_s", "limit_bytes", "limit_used_bytes", "limit_hits", "spilled_bytes",
    "fault_bytes_s", "cpu_mhz",
    "cpu_temperature", "cpu_throttles",
)  # fmt: skip
_GPU = tuple(f.name for f in fields(GpuReading) if f.name not in ("name", "source"))
_PROCESS = ("cpu_cores", "resident_bytes", "gpu_bytes")
_MOST_PROCESSES = 8
_WHOLE = frozenset(("clock_reasons", "limit_hits", "cpu_throttles"))


@dataclass(frozen=True, slots=True)
class _Column:
    """How one series is taken from a reading."""

    subject: str
    name: str
    value: Callable[[LiveReading], float | None]


def track_of(readings: tuple[LiveReading, ...], source: str = "") -> Track | None:
    """Return the track of a measurement with its events; None without a reading."""
    if not readings:
        return None
    start = readings[0].at_s
    kept = readings[:: -(-len(readings) // MOST_POINTS)]
    found = []
    for column in _columns(readings):
        values = tuple(column.value(reading) for reading in kept)
        if any(value is not None for value in values):
            found.append(Series(column.subject, values, column.name))
    events = tuple(
        replace(event, at_s=round(event.at_s - start, 2)) for event in events_of(readings)
    )
    times = tuple(round(reading.at_s - start, 2) for reading in kept)
    return Track(times, tuple(found), events, source)


def readings_of(track: Track) -> tuple[LiveReading, ...]:
    """Return the readings of a track, so that they can be drawn as live ones are."""
    return tuple(_reading(track, i, at_s) for i, at_s in enumerate(track.times_s))


def _columns(readings: tuple[LiveReading, ...]) -> list[_Column]:
    found = [_Column(name, "", _plain(name)) for name in _PLAIN]
    kinds = dict.fromkeys(name for reading in readings for name, _ in reading.cpu_kinds)
    found += [_Column("cpu.kind", kind, _kind(kind)) for kind in kinds]
    for index, gpu in enumerate(_most_gpus(readings)):
        found += [_Column(f"gpu.{index}.{n}", gpu.name, _of_gpu(index, n)) for n in _GPU]
    known = {p.pid: p.title for reading in readings for p in reading.processes}
    for index, (pid, title) in enumerate(list(known.items())[:_MOST_PROCESSES]):
        found += [_Column(f"process.{index}.{n}", title, _of_process(pid, n)) for n in _PROCESS]
    return found


def _most_gpus(readings: tuple[LiveReading, ...]) -> tuple[GpuReading, ...]:
    found: tuple[GpuReading, ...] = ()
    for reading in readings:
        if len(reading.gpus) > len(found):
            found = reading.gpus
    return found


def _plain(name: str) -> Callable[[LiveReading], float | None]:
    return lambda reading: _short(getattr(reading, name))


def _kind(name: str) -> Callable[[LiveReading], float | None]:
    return lambda reading: _short(dict(reading.cpu_kinds).get(name))


def _of_gpu(index: int, name: str) -> Callable[[LiveReading], float | None]:
    def value(reading: LiveReading) -> float | None:
        return _short(getattr(reading.gpus[index], name)) if index < len(reading.gpus) else None

    return value


def _of_process(pid: int, name: str) -> Callable[[LiveReading], float | None]:
    def value(reading: LiveReading) -> float | None:
        process = next((p for p in reading.processes if p.pid == pid), None)
        return _short(getattr(process, name)) if process is not None else None

    return value


def _short(value: float | None) -> float | None:
    """Return a value with as many digits as were measured, so that files stay small."""
    return round(value, 4) if isinstance(value, float) else value


def _reading(track: Track, i: int, at_s: float) -> LiveReading:
    plain: dict[str, Any] = {}
    kinds: list[tuple[str, float]] = []
    gpus: dict[int, dict[str, Any]] = {}
    processes: dict[int, dict[str, Any]] = {}
    for series in track.series:
        value = series.values[i] if i < len(series.values) else None
        group, _, rest = series.subject.partition(".")
        number, _, field = rest.partition(".")
        if group == "cpu" and value is not None:
            kinds.append((series.name, value))
        elif group == "gpu" and number.isdecimal() and field in _GPU:
            gpus.setdefault(int(number), {"name": series.name})[field] = _typed(field, value)
        elif group == "process" and number.isdecimal() and field in _PROCESS:
            entry = processes.setdefault(int(number), {"pid": int(number), "title": series.name})
            entry[field] = _typed(field, value)
        elif series.subject in _PLAIN:
            plain[series.subject] = _typed(series.subject, value)
    return LiveReading(
        at_s,
        cpu_kinds=tuple(kinds),
        gpus=tuple(GpuReading(**gpus[number], source=track.source) for number in sorted(gpus)),
        processes=tuple(
            ProcessReading(**processes[number])
            for number in sorted(processes)
            if any(processes[number].get(name) is not None for name in _PROCESS)
        ),
        **plain,
    )


def _typed(name: str, value: float | None) -> float | None:
    """Return whole numbers as such: files of other people may hold 1.0 for 1."""
    is_whole = name in _WHOLE or name.endswith(("_bytes", "_mhz", "_width", "_width_max"))
    is_whole = is_whole or name.startswith("link_generation")
    return int(value) if value is not None and is_whole else value
