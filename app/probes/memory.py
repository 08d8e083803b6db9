"""System memory: how much there is, how much is free, and a container's limit."""

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import cgroups
from app.probes.text import table, whole

MEMINFO = "/proc/meminfo"


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return memory.* facts, in bytes."""
    if host.platform() != "linux":
        return _from_basics(host)
    text = host.read_text(MEMINFO)
    total = kib_line(text, "MemTotal")
    available = kib_line(text, "MemAvailable")
    return (
        _fact("memory.total", total, MEMINFO, "MemTotal"),
        _fact("memory.available", available, MEMINFO, "MemAvailable"),
        *_limit(host),
        lock_limit(host.read_text("/proc/self/limits") or ""),
    )


def lock_limit(text: str) -> MachineFact:
    """Return how much a program may lock in memory, from /proc/self/limits: --mlock needs it."""
    path, source = "memory.lock_limit", "/proc/self/limits"
    line = next((x for x in text.splitlines()[:100] if x.startswith("Max locked memory")), "")
    words = line.removeprefix("Max locked memory").split()
    if words[:1] == ["unlimited"]:
        return facts.known(path, "unlimited", source=source)
    return _fact(path, whole(words[0]) if words else None, source, "Max locked memory")


def kib_line(text: str | None, name: str) -> int | None:
    """Return a line of /proc/meminfo in bytes; its kB are 1024 bytes."""
    words = table(text).get(name, "").split()
    value = whole(words[0]) if len(words) == 2 and words[1] == "kB" else None
    return None if value is None or value < 0 else value * 1024


def _from_basics(host: Host) -> tuple[MachineFact, ...]:
    basics = host.basics()
    return (
        _fact("memory.total", basics.memory_total_bytes, basics.source, "the total"),
        _fact("memory.available", basics.memory_available_bytes, basics.source, "what is free"),
    )


def _limit(host: Host) -> tuple[MachineFact, ...]:
    limit = cgroups.memory_limit(host)
    if limit is None:
        reason = "no limit is set on this group of programs"
        absent = facts.missing(
            "memory.limit", State.ABSENT, source="cgroup", reason=reason, unit="bytes"
        )
        return (absent,)
    return (
        facts.known("memory.limit", limit.limit_bytes, source=limit.source, unit="bytes"),
        _fact("memory.limit_used", limit.used_bytes, limit.source, "what is used of the limit"),
    )


def _fact(path: str, value: int | None, source: str, what: str) -> MachineFact:
    if value is not None:
        return facts.known(path, value, source=source, unit="bytes")
    reason = f"{source} does not tell {what}"
    return facts.missing(path, State.MISSING, source=source, reason=reason, unit="bytes")


PROBE = Probe("memory", read)
