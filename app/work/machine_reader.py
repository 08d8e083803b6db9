"""Asks all probes and runtimes about this computer; one that breaks does not spoil the others."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import app.probes
import app.runtimes
from app.core import bandwidth, facts, plugins
from app.core.cancel import Cancel
from app.core.host import Host
from app.core.machine import Machine, MachineFact, Runtime
from app.core.probe import Probe, RuntimeProbe
from app.core.reading import State
from app.probes.snapshot import Snapshot
from app.runtimes import llama_cpp
from app.work import device_rows

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
    probes = plugins.collect(app.probes, "PROBE", Probe)
    searches = plugins.collect(app.runtimes, "RUNTIME", RuntimeProbe)
    # as many threads as questions: each waits for a file, a program or a server (decision 0008)
    with ThreadPoolExecutor(len(probes) + len(searches), "machine") as pool:
        asked = [(p.name, pool.submit(_probe, host, p)) for p in probes]
        looked = [(s.title, pool.submit(_search, host, s, llama_folders)) for s in searches]
        step = _Steps(len(asked) + len(looked), cancel, progress)
        try:
            groups = [step.wait(name, future) for name, future in asked]
            finds = [step.wait(title, future) for title, future in looked]
        finally:  # stopped early: what has not begun is not asked any more
            pool.shutdown(wait=False, cancel_futures=True)
    answer, listed = next(((f.answer, f.listed) for f in finds if f.listed), (None, None))
    machine = Machine(
        facts=(*facts.join(group.facts for group in groups), *((answer,) if answer else ())),
        devices=listed.devices if listed else (),
        runtimes=tuple(runtime for find in finds for runtime in find.runtimes),
        devices_source=listed.source if listed and listed.state is State.KNOWN else "",
        skipped=tuple(
            reason
            for reason in (*(g.skipped for g in groups), *(f.skipped for f in finds))
            if reason
        ),
    )
    return bandwidth.with_devices(machine, device_rows.rows())


@dataclass(frozen=True, slots=True)
class _Group:
    """What one probe said; skipped says why it broke, "" when it did not."""

    facts: tuple[MachineFact, ...]
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class _Find:
    """The runtimes of one search, and the device list of llama.cpp's."""

    runtimes: tuple[Runtime, ...]
    listed: llama_cpp.DeviceList | None = None
    answer: MachineFact | None = None
    skipped: str = ""


def _search(host: Host, search: RuntimeProbe, folders: tuple[str, ...]) -> _Find:
    found, skipped = _guarded(search.title, partial(search.find, host, folders))
    runtimes = found or ()
    if search.id != llama_cpp.ID:
        return _Find(runtimes, skipped=skipped)
    listed = llama_cpp.list_devices(host, runtimes)
    if listed.state is State.KNOWN:
        answer = facts.known("llama.devices", len(listed.devices), source=listed.source)
    else:
        answer = facts.missing(
            "llama.devices", listed.state, source=listed.source, reason=listed.reason
        )
    return _Find(runtimes, listed, answer, skipped)


class _Steps:
    """Says whose answer is awaited, and stops between two answers when that is wanted."""

    def __init__(self, total: int, cancel: Cancel | None, progress: Progress | None) -> None:
        self._total, self._done = total, 0
        self._cancel, self._progress = cancel, progress

    def wait(self, name: str, future: Future[T]) -> T:
        """Return a question's answer when it is there."""
        if self._cancel is not None:
            self._cancel.check()
        if self._progress is not None:
            self._progress(100 * self._done // self._total, name)
        self._done += 1
        return future.result()


def _probe(host: Host, probe: Probe) -> _Group:
    found, skipped = _guarded(probe.name, partial(probe.read, host))
    if found is not None:
        return _Group(found)
    path = f"{probe.name.lower().replace(' ', '_')}.search"
    return _Group((facts.missing(path, State.ERROR, source=probe.name, reason=skipped),), skipped)


def _guarded(name: str, read: Callable[[], T]) -> tuple[T | None, str]:
    """Return what a probe says, or why it broke; what broke is shown, not fatal."""
    try:
        return read(), ""
    except Exception as error:  # noqa: BLE001 - one of the three loops named in style.md
        return None, f"{name} could not be read: {type(error).__name__}: {error}"
