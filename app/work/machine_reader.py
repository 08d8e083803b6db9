"""Asks all probes and runtimes about this computer; one that breaks does not spoil the others."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import app.probes
import app.runtimes
from app.core import facts, plugins
from app.core.cancel import Cancel
from app.core.host import Host
from app.core.machine import Machine, MachineFact, Runtime
from app.core.probe import Probe, RuntimeProbe
from app.core.reading import State
from app.probes.snapshot import Snapshot
from app.runtimes import llama_cpp

T = TypeVar("T")
Progress = Callable[[int, str], None]  # per cent, and what is being asked


def read_machine(
    host: Host,
    llama_folders: tuple[str, ...] = (),
    cancel: Cancel | None = None,
    progress: Progress | None = None,
) -> Machine:
    """Read everything; `llama_folders` are the user's own, looked into first."""
    host = Snapshot(host)
    skipped: list[str] = []
    probes = plugins.collect(app.probes, "PROBE", Probe)
    searches = plugins.collect(app.runtimes, "RUNTIME", RuntimeProbe)
    step = _Steps(len(probes) + len(searches) + 1, cancel, progress)
    groups = []
    for probe in probes:
        step(probe.name)
        groups.append(_probe(host, probe, skipped))
    runtimes: list[Runtime] = []
    for search in searches:
        step(search.title)
        found = _guarded(search.title, partial(search.find, host, llama_folders), skipped)
        runtimes.extend(found or ())
    step("devices of llama.cpp")
    own = tuple(runtime for runtime in runtimes if runtime.id == llama_cpp.ID)
    listed = llama_cpp.list_devices(host, own)
    if listed.state is State.KNOWN:
        answer = facts.known("llama.devices", len(listed.devices), source=listed.source)
    else:
        answer = facts.missing(
            "llama.devices", listed.state, source=listed.source, reason=listed.reason
        )
    return Machine(
        facts=(*facts.join(groups), answer),
        devices=listed.devices,
        runtimes=tuple(runtimes),
        devices_source=listed.source if listed.state is State.KNOWN else "",
        skipped=tuple(skipped),
    )


class _Steps:
    """Says what is asked next, and stops between two steps when that is wanted."""

    def __init__(self, total: int, cancel: Cancel | None, progress: Progress | None) -> None:
        self._total, self._done = total, 0
        self._cancel, self._progress = cancel, progress

    def __call__(self, name: str) -> None:
        if self._cancel is not None:
            self._cancel.check()
        if self._progress is not None:
            self._progress(100 * self._done // self._total, name)
        self._done += 1


def _probe(host: Host, probe: Probe, skipped: list[str]) -> tuple[MachineFact, ...]:
    found = _guarded(probe.name, partial(probe.read, host), skipped)
    if found is not None:
        return found
    path = f"{probe.name.lower().replace(' ', '_')}.search"
    return (facts.missing(path, State.ERROR, source=probe.name, reason=skipped[-1]),)


def _guarded(name: str, read: Callable[[], T], skipped: list[str]) -> T | None:
    """Return what a probe says, None when it broke; what broke is shown, not fatal."""
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - one of the three loops named in style.md
        skipped.append(f"{name} could not be read: {type(error).__name__}: {error}")
        return None
