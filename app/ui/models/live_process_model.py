"""The live strips of the runtimes' processes: cores, resident memory, card memory."""

from collections.abc import Callable

from app.core import units
from app.core.live import LiveReading, ProcessReading
from app.ui.models import live_axis
from app.ui.models.live_history import Group, History, Strip, Trace, is_known

_MOST = 3  # those with the most memory
_LEAST_BYTES = 256.0 * units.MIB
_SOURCE = "psutil"
_STEP = 128 * units.MIB  # of memory; less does not change the order

Value = Callable[[ProcessReading], float | None]


def groups(history: History) -> tuple[Group, ...]:
    """Return the strips of each process, in the order in which they were found."""
    last = history.last
    found = last.processes if last else ()
    largest = sorted(found, key=_weight, reverse=True)[:_MOST]
    shown = [process for process in found if process in largest]
    return tuple(_group(history, process) for process in shown)


def _weight(process: ProcessReading) -> tuple[int, int]:
    # memory first: a model at rest is what a person looks for, a helper process is not
    return ((process.resident_bytes or 0) // _STEP, process.gpu_bytes or 0)


def _group(history: History, process: ProcessReading) -> Group:
    def trace(name: str, role: str, value: Value) -> Trace:
        return Trace(name, role, history.points(_of(process.pid, value)))

    cores = (trace("cores", "accent", lambda p: p.cpu_cores),)
    resident = (trace("memory", "accent", lambda p: p.resident_bytes),)
    card = (trace("GPU memory", "device", lambda p: p.gpu_bytes),)
    top_cores = live_axis.plain_top(cores, 1.0)
    made = [
        Strip(
            "CPU", _cores(process.cpu_cores), top_cores, _cores(top_cores), cores,
            words=_cores, source=_SOURCE,
        ),
        _bytes("Resident memory", process.resident_bytes, resident, _SOURCE),
    ]  # fmt: skip
    if is_known(card[0].points):
        made.append(_bytes("GPU memory", process.gpu_bytes, card, "the GPU's driver"))
    # a recording keeps no numbers of processes
    title = f"{process.title}, process {process.pid}" if history.is_live else process.title
    return Group(title, tuple(made), process.command)


def _bytes(title: str, now: int | None, traces: tuple[Trace, ...], source: str) -> Strip:
    top = live_axis.bytes_top(traces, _LEAST_BYTES)
    return Strip(
        title, units.size(now), top, units.size(top), traces,
        words=units.size, source=source,
    )  # fmt: skip


def _of(pid: int, value: Value) -> Callable[[LiveReading], float | None]:
    def read(reading: LiveReading) -> float | None:
        process = next((p for p in reading.processes if p.pid == pid), None)
        return value(process) if process is not None else None

    return read


def _cores(value: float | None) -> str:
    if value is None:
        return units.UNKNOWN
    text = f"{value:.2g}" if value < 1 else f"{value:.3g}"
    return "1 core" if text == "1" else f"{text} cores"
