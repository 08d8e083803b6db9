"""Memory modules as the error-correction driver (EDAC) of a server tells them to everybody."""

import re

from app.core import facts, units
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.reading import State
from app.probes.text import whole

_ROOT = "/sys/devices/system/edac/mc"
_MAX = 64


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return memory.modules, and why their speed is not told; empty without such a driver."""
    words = []
    for controller in host.list_dir(_ROOT)[:_MAX]:
        if not re.fullmatch(r"mc[0-9]{1,3}", controller):
            continue
        for name in host.list_dir(f"{_ROOT}/{controller}")[:_MAX]:
            if re.fullmatch(r"(?:dimm|rank)[0-9]{1,3}", name):
                words.append(_module(host, f"{_ROOT}/{controller}/{name}"))
    modules = tuple(word for word in words if word)
    if not modules:
        return ()
    reason = "EDAC tells size and type only; `sudo dmidecode -t 17` tells speed and channels"
    return (
        facts.known("memory.modules", modules, source=_ROOT),
        *(
            facts.missing(path, State.UNSUPPORTED, source=_ROOT, reason=reason, unit=unit)
            for path, unit in (
                ("memory.channels", ""),
                ("memory.speed", "MT/s"),
                ("memory.speed_rated", "MT/s"),
            )
        ),
    )


def _module(host: Host, folder: str) -> str:
    """Return one module in words, "" for an empty slot; its size is in MiB."""
    size = whole(host.read_text(f"{folder}/size"))
    if size is None or not 0 < size < 1 << 24:
        return ""
    label = (host.read_text(f"{folder}/dimm_label") or "").strip()[:60]
    kind = (host.read_text(f"{folder}/dimm_mem_type") or "").strip()[:30]
    return " ".join(part for part in (label, units.size(size * units.MIB), kind) if part)
