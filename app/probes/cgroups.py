"""Limits that a container or service imposes: cgroup files of version 2 and version 1."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.core.host import Host
from app.probes.text import table, whole

_ROOT = "/sys/fs/cgroup"
# version 1 writes "none" as the largest multiple of the page size below 2^63
_V1_NONE = 1 << 60
_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The lowest memory limit on us and what counts against it, in bytes."""

    limit_bytes: int
    used_bytes: int | None
    source: str


@dataclass(frozen=True, slots=True)
class CpuLimit:
    """How many CPUs' worth of time we may use."""

    cpus: float
    source: str


def memory_limit(host: Host) -> MemoryLimit | None:
    """Return the lowest limit from our group up to the root, None when there is none."""
    found = [
        limit
        for folder in _folders(host, "memory")
        if (limit := limit_in(host, folder)) is not None
    ]
    return min(found, key=lambda item: item.limit_bytes, default=None)


def swap_limit(host: Host) -> MemoryLimit | None:
    """Return the lowest limit of swap (version 2), None when there is none; 0 is a limit."""
    found = []
    for folder in _folders(host, "memory"):
        path = f"{folder}/memory.swap.max"
        limit = whole(host.read_text(path))
        if limit is not None and 0 <= limit < _V1_NONE:
            used = whole(host.read_text(f"{folder}/memory.swap.current"))
            found.append(MemoryLimit(limit, used, path))
    return min(found, key=lambda item: item.limit_bytes, default=None)


def limit_in(host: Host, folder: str) -> MemoryLimit | None:
    """Return the limit of one group, None when it has none."""
    return _limit_in(host, folder, "memory.max", "memory.current", "inactive_file") or _limit_in(
        host,
        folder,
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    )


def cpu_limit(host: Host) -> CpuLimit | None:
    """Return the lowest CPU quota from our group up to the root, None when there is none."""
    found = []
    for folder in _folders(host, "cpu"):
        limit = _quota_v2(host, folder) or _quota_v1(host, folder)
        if limit is not None:
            found.append(limit)
    return min(found, key=lambda item: item.cpus, default=None)


def parse_cpu_max(text: str) -> float | None:
    """Return CPUs from cpu.max (`quota period`), None for `max` and anything else."""
    words = text.split()
    if len(words) != 2:
        return None
    return _ratio(whole(words[0]), whole(words[1]))


def _quota_v2(host: Host, folder: str) -> CpuLimit | None:
    path = f"{folder}/cpu.max"
    cpus = parse_cpu_max(host.read_text(path) or "")
    return None if cpus is None else CpuLimit(cpus, path)


def _quota_v1(host: Host, folder: str) -> CpuLimit | None:
    path = f"{folder}/cpu.cfs_quota_us"
    quota = whole(host.read_text(path))  # -1: no quota
    cpus = _ratio(quota, whole(host.read_text(f"{folder}/cpu.cfs_period_us")))
    return None if cpus is None else CpuLimit(cpus, path)


def _ratio(quota: int | None, period: int | None) -> float | None:
    if quota is None or period is None or quota <= 0 or period <= 0:
        return None
    return quota / period


def _limit_in(
    host: Host, folder: str, limit_name: str, used_name: str, cache_name: str
) -> MemoryLimit | None:
    limit = whole(host.read_text(f"{folder}/{limit_name}"))
    if limit is None or limit <= 0 or limit >= _V1_NONE:
        return None
    used = whole(host.read_text(f"{folder}/{used_name}"))
    # page cache that was not touched lately goes first: a model file that was read before counts
    # as used, but takes nothing away from the next program
    cache = whole(table(host.read_text(f"{folder}/memory.stat"), " ").get(cache_name))
    if used is not None and cache is not None:
        used = max(0, used - cache)
    return MemoryLimit(limit, used, f"{folder}/{limit_name}")


def _folders(host: Host, controller: str) -> Iterator[str]:
    """Yield the folders of our group and its parents, in both versions; some may not exist."""
    for line in (host.read_text("/proc/self/cgroup") or "").splitlines()[:100]:
        parts = line.split(":", 2)
        if len(parts) != 3:
            continue
        if parts[1] == "":
            roots = [_ROOT, f"{_ROOT}/unified"]
        elif controller in parts[1].split(","):
            roots = [f"{_ROOT}/{parts[1]}", f"{_ROOT}/{controller}"]
        else:
            continue
        for root in dict.fromkeys(roots):
            yield from _upwards(root, parts[2])


def _upwards(root: str, group: str) -> Iterator[str]:
    names = [name for name in group.split("/") if name and name != ".."][:_MAX_DEPTH]
    while names:
        yield "/".join((root, *names))
        names.pop()
    yield root  # in a container the mount itself is our group
