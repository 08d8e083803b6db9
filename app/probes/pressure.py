"""Memory pressure: the share of time in which programs waited for memory (Linux PSI)."""

import re

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State

_FILE = "/proc/pressure/memory"
_LINE = re.compile(r"^(some|full) avg10=([0-9]{1,3}\.[0-9]{2})\b", re.MULTILINE)


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return pressure.memory.some and .full over 10 s, in per cent."""
    if host.platform() != "linux":
        return ()
    values = parse(host.read_text(_FILE) or "")
    return tuple(_fact(kind, values.get(kind)) for kind in ("some", "full"))


def parse(text: str) -> dict[str, float]:
    """Return avg10 by line name; percentages above 100 are not believed."""
    found = {name: float(value) for name, value in _LINE.findall(text)}
    return {name: value for name, value in found.items() if value <= 100}


def _fact(kind: str, value: float | None) -> MachineFact:
    path = f"pressure.memory.{kind}"
    if value is not None:
        return facts.known(path, value, source=_FILE, unit="%")
    reason = "the kernel does not measure it (PSI is off, or this is WSL1)"
    return facts.missing(path, State.ABSENT, source=_FILE, reason=reason, unit="%")


PROBE = Probe("memory pressure", read)
