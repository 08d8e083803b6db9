"""How each live strip shows the readings of the last minute: CPU, memory, swap, GPUs."""

import math
from collections.abc import Callable

from app.core import units
from app.core.live import LiveReading
from app.ui.models import live_gpu_model
from app.ui.models.live_history import History, Strip, Trace

_FACTORS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_KIND_ROLES = ("host", "dim", "line")
_LEAST_RATE = float(units.MIB)  # bytes per s: without traffic the axis must not show noise


def strips(history: History, memory_limit: int | None = None) -> tuple[Strip, ...]:
    """Return CPU, memory and swap, then the GPUs'; memory_limit is a container's, None = none."""
    host = (_cpu(history), _memory(history, memory_limit), _swap(history))
    return (*host, *live_gpu_model.strips(history))


def _cpu(history: History) -> Strip:
    last = history.last
    trace = Trace("all", "accent", history.points(lambda reading: reading.cpu_share))
    kinds = tuple(
        Trace(name, role, history.points(_kind(name)), True)
        for (name, _), role in zip(last.cpu_kinds if last else (), _KIND_ROLES, strict=False)
    )
    now = units.percent(last.cpu_share if last else None, 0)
    return Strip("CPU in use", now, 1.0, "100 %", (trace, *kinds))


def _kind(name: str) -> Callable[[LiveReading], float | None]:
    return lambda reading: dict(reading.cpu_kinds).get(name)


def _memory(history: History, limit: int | None) -> Strip:
    last = history.last
    total = last.memory_total_bytes if last else None
    trace = Trace("Memory", "accent", history.points(lambda reading: reading.memory_used_bytes))
    is_limited = limit is not None and total is not None and limit < total
    return Strip(
        "Memory in use",
        units.gib(last.memory_used_bytes if last else None),
        float(total or 1),
        units.gib(total) if total else "",
        (trace,),
        float(limit) if is_limited and limit is not None else None,
        f"limit {units.gib(limit)}" if is_limited else "",
    )


def _swap(history: History) -> Strip:
    last = history.last
    traces: tuple[Trace, ...] = (
        Trace("in", "accent", history.points(lambda reading: reading.swap_in_bytes_s)),
        Trace("out", "host", history.points(lambda reading: reading.swap_out_bytes_s), True),
    )
    # a mapped model whose pages are thrown out is read again without any swap traffic
    again = history.points(lambda reading: reading.refault_bytes_s)
    if any(not math.isnan(value) for _, value in again):
        traces = (*traces, Trace("read again", "error", again, True))
    known = [value for trace in traces for _, value in trace.points if not math.isnan(value)]
    top = _ceiling(max([*known, _LEAST_RATE]))
    into, out = (last.swap_in_bytes_s, last.swap_out_bytes_s) if last else (None, None)
    now = units.UNKNOWN
    if into is not None and out is not None:
        now = f"in {units.size(into)}/s, out {units.size(out)}/s"
        if last is not None and last.refault_bytes_s:
            now += f", again {units.size(last.refault_bytes_s)}/s"
    return Strip("Swap traffic", now, top, f"{units.size(top)}/s", traces)


def _ceiling(value: float) -> float:
    """Return the next round figure in MiB or GiB, so that the axis is easy to read."""
    step = float(units.MIB)
    while step * _FACTORS[-1] < value:
        step *= units.KIB
    return next(step * factor for factor in _FACTORS if step * factor >= value)
