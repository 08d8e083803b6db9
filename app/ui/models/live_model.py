"""How the live strips show readings: this computer, its GPUs, the processes of runtimes."""

from collections.abc import Callable
from dataclasses import replace

from app.core import units
from app.core.live import LiveReading
from app.ui.models import live_axis, live_gpu_model, live_process_model
from app.ui.models.live_history import Group, History, Strip, Trace, is_known

_KIND_ROLES = ("host", "kv", "compute")
_LEAST_RATE = float(units.MIB)  # bytes per s: without traffic the axis must not show noise
_TITLE = "This computer"


def groups(history: History, memory_limit: int | None = None) -> tuple[Group, ...]:
    """Return the strips by heading; memory_limit is a container's, None = none is known."""
    always = (_cpu(history), _memory(history, memory_limit), _swap(history))
    told = (_clock(history), _heat(history))  # not in a virtual machine
    own = Group(_TITLE, (*always, *(s for s in told if any(is_known(t.points) for t in s.traces))))
    found = (own, *live_gpu_model.groups(history), *live_process_model.groups(history))
    return tuple(replace(group, strips=_timed(group.strips, history)) for group in found)


def _timed(strips: tuple[Strip, ...], history: History) -> tuple[Strip, ...]:
    span, is_live = history.span_s, history.is_live
    return tuple(replace(strip, span_s=span, is_live=is_live) for strip in strips)


def _cpu(history: History) -> Strip:
    last = history.last
    trace = Trace("all", "accent", history.points(lambda reading: reading.cpu_share))
    kinds = tuple(
        Trace(name, role, history.points(_kind(name)), True)
        for (name, _), role in zip(last.cpu_kinds if last else (), _KIND_ROLES, strict=False)
    )
    return Strip(
        "CPU in use",
        units.percent(last.cpu_share if last else None, 0),
        1.0,
        "100 %",
        (trace, *kinds),
        words=units.whole_percent,
        source="psutil: CPU times of all cores",
    )


def _clock(history: History) -> Strip:
    last = history.last
    traces = (Trace("clock", "accent", history.points(lambda reading: reading.cpu_mhz)),)
    top = live_axis.plain_top(traces, 1000.0)
    return Strip(
        "CPU clock, fastest core",
        units.mhz(last.cpu_mhz if last else None),
        top,
        units.mhz(top),
        traces,
        marks=history.marks("cpu"),
        words=units.mhz,
        source="cpufreq of the first eight cores",
    )


def _heat(history: History) -> Strip:
    last = history.last
    traces = (Trace("heat", "host", history.points(lambda reading: reading.cpu_temperature)),)
    now = units.degrees(last.cpu_temperature if last else None)
    source = "the system's thermal zone of the processor"
    return Strip(
        "CPU temperature", now, 110.0, units.degrees(110.0), traces,
        marks=history.marks("cpu"), words=units.degrees, source=source,
    )  # fmt: skip


def _kind(name: str) -> Callable[[LiveReading], float | None]:
    return lambda reading: dict(reading.cpu_kinds).get(name)


def _memory(history: History, given: int | None) -> Strip:
    last = history.last
    total = last.memory_total_bytes if last else None
    limit = last.limit_bytes if last and last.limit_bytes is not None else given
    traces = [Trace("all programs", "accent", history.points(lambda r: r.memory_used_bytes))]
    is_limited = limit is not None and total is not None and limit < total
    if is_limited:
        mine = history.points(lambda reading: reading.limit_used_bytes)
        traces += [Trace("this container", "host", mine, True)] if is_known(mine) else []
    return Strip(
        "Memory in use",
        units.gib(last.memory_used_bytes if last else None),
        # the line of what there is must be seen below the upper edge
        float(total or 1) * (1.0 if is_limited else live_gpu_model.EDGE),
        units.gib(total) if total and is_limited else "",
        tuple(traces),
        float(limit) if is_limited and limit is not None else float(total) if total else None,
        f"limit {units.gib(limit)}" if is_limited else f"all {units.gib(total)}" if total else "",
        history.marks("memory"),
        units.gib,
        "psutil: total less available" + (", cgroup" if is_limited else ""),
    )


def _swap(history: History) -> Strip:
    last = history.last
    traces: tuple[Trace, ...] = (
        Trace("in", "accent", history.points(lambda reading: reading.swap_in_bytes_s)),
        Trace("out", "host", history.points(lambda reading: reading.swap_out_bytes_s), True),
    )
    # a mapped model whose pages are thrown out is read again without any swap traffic
    again = history.points(lambda reading: reading.refault_bytes_s)
    if is_known(again):
        traces = (*traces, Trace("read again", "error", again, True))
    faults = history.points(lambda reading: reading.fault_bytes_s)
    if is_known(faults):  # Windows does not tell swap from files
        traces = (traces[1], Trace("read", "accent", faults))
    top = live_axis.bytes_top(traces, _LEAST_RATE)
    into, out = (last.swap_in_bytes_s, last.swap_out_bytes_s) if last else (None, None)
    now = units.UNKNOWN
    if last is not None and last.fault_bytes_s is not None and out is not None:
        now = f"read {_rate(last.fault_bytes_s)}, out {_rate(out)}"
    elif into is not None and out is not None:
        now = f"in {_rate(into)}, out {_rate(out)}"
        if last is not None and last.refault_bytes_s:
            now += f", again {_rate(last.refault_bytes_s)}"
    return Strip(
        "Swap traffic",
        now,
        top,
        _rate(top),
        traces,
        marks=history.marks("swap"),
        words=_rate,
        source="pages moved to and from the swap; file pages read again (/proc/vmstat on Linux)",
    )


def _rate(value: float) -> str:
    return f"{units.size(value)}/s"
