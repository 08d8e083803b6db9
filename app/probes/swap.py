"""Swap: how much there is and how much is used; whether it moves needs two samples (sampler)."""

import re

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import cgroups
from app.probes.memory import MEMINFO, kib_line

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return swap.total and swap.used, in bytes."""
    if host.platform() == "linux":
        text = host.read_text(MEMINFO)
        total, free = kib_line(text, "SwapTotal"), kib_line(text, "SwapFree")
        used = None if total is None or free is None else max(0, total - free)
        return (*_facts(total, used, MEMINFO), *_limit(host))
    if host.platform() == "darwin":
        answer = host.run(("sysctl", "-n", "vm.swapusage"))
        total, used = parse_swapusage(answer.stdout)
        if total == 0:  # macOS makes swap files on demand
            return (
                facts.known("swap.total", 0, source="sysctl vm.swapusage", unit="bytes"),
                facts.known("swap.used", 0, source="sysctl vm.swapusage", unit="bytes"),
            )
        return _facts(total, used, "sysctl vm.swapusage")
    basics = host.basics()
    return _facts(basics.swap_total_bytes, basics.swap_used_bytes, basics.source)


def _limit(host: Host) -> tuple[MachineFact, ...]:
    """Return how much swap a container may use; nothing where no limit is set."""
    limit = cgroups.swap_limit(host)
    if limit is None:
        return ()
    path = "swap.limit"
    return (facts.known(path, limit.limit_bytes, source=limit.source, unit="bytes"),)


def parse_swapusage(text: str) -> tuple[int | None, int | None]:
    """Return total and used in bytes from vm.swapusage, with a decimal point or comma."""
    return _amount(text, "total"), _amount(text, "used")


def _amount(text: str, name: str) -> int | None:
    match = re.search(rf"\b{name} = ([0-9]{{1,12}})(?:[.,]([0-9]{{1,6}}))?([KMG])\b", text)
    if match is None:
        return None
    return round(float(f"{match[1]}.{match[2] or 0}") * _UNITS[match[3]])


def _facts(total: int | None, used: int | None, source: str) -> tuple[MachineFact, ...]:
    if total is None or used is None:
        reason = f"{source} does not tell the swap"
        state = State.MISSING
    elif total == 0:
        reason, state = "no swap is set up", State.ABSENT
    else:
        return (
            facts.known("swap.total", total, source=source, unit="bytes"),
            facts.known("swap.used", used, source=source, unit="bytes"),
        )
    return tuple(
        facts.missing(path, state, source=source, reason=reason, unit="bytes")
        for path in ("swap.total", "swap.used")
    )


PROBE = Probe("swap", read)
