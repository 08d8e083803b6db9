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


def read_machine(
    host: Host, llama_folders: tuple[str, ...] = (), cancel: Cancel | None = None
) -> Machine:
    """Read everything; `llama_folders` are the user's own, looked into first."""
    host = Snapshot(host)
    skipped: list[str] = []
    groups = []
    for probe in plugins.collect(app.probes, "PROBE", Probe):
        _check(cancel)
        groups.append(_probe(host, probe, skipped))
    runtimes: list[Runtime] = []
    for search in plugins.collect(app.runtimes, "RUNTIME", RuntimeProbe):
        _check(cancel)
        found = _guarded(search.title, partial(search.find, host, llama_folders), skipped)
        runtimes.extend(found or ())
    _check(cancel)
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


def _check(cancel: Cancel | None) -> None:
    if cancel is not None:
        cancel.check()


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
