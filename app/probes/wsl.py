"""WSL2: what Windows gives it, from .wslconfig on the drive of Windows."""

import configparser
import re

from app.core import facts, units
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes.text import whole

_OSRELEASE = "/proc/sys/kernel/osrelease"
_SIZE = re.compile(r"([0-9]{1,12})\s*(KB|MB|GB|TB|B)?", re.IGNORECASE)
_UNITS = {"B": 1, "KB": units.KIB, "MB": units.MIB, "GB": units.GIB, "TB": 1024 * units.GIB}
_NOT_PEOPLE = ("All Users", "Default", "Default User", "Public", "desktop.ini")
_MAX_PEOPLE = 20


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return os.wsl_* facts inside WSL2, nothing elsewhere."""
    if "microsoft" not in (host.read_text(_OSRELEASE) or ""):
        return ()
    for folder in windows_drives(host.read_text("/proc/mounts") or ""):
        for person in host.list_dir(f"{folder}/Users")[:_MAX_PEOPLE]:
            if person in _NOT_PEOPLE:
                continue
            text = host.read_text(f"{folder}/Users/{person}/.wslconfig", 1 << 16)
            if text is not None:
                return config_facts(text)
    reason = "there is none, so the defaults hold: half of Windows' memory, a quarter of it as swap"
    return (facts.missing("os.wsl_config", State.ABSENT, source=".wslconfig", reason=reason),)


def windows_drives(mounts: str) -> tuple[str, ...]:
    """Return where Windows' drives are mounted; the root /mnt can be changed."""
    found = []
    for line in mounts.splitlines()[:1000]:
        words = line.split()
        # C:\ is written C:\134; drvfs in WSL1, 9p with aname=drvfs in WSL2
        if len(words) > 3 and re.match(r"[A-Za-z]:", words[0]) and "drvfs" in line:
            found.append(words[1])
    return tuple(found) or ("/mnt/c",)


def config_facts(text: str) -> tuple[MachineFact, ...]:
    """Return what the [wsl2] section sets; what it leaves out has a default."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text.lstrip("\ufeff"))
    except configparser.Error:
        reason = "it cannot be read as settings"
        return (facts.missing("os.wsl_config", State.ERROR, source=".wslconfig", reason=reason),)
    if not parser.has_section("wsl2"):
        reason = "it has no section [wsl2], so the defaults hold"
        return (facts.missing("os.wsl_config", State.ABSENT, source=".wslconfig", reason=reason),)
    section = parser["wsl2"]
    found = []
    for path, key in (("os.wsl_memory", "memory"), ("os.wsl_swap", "swap")):
        size = size_bytes(section.get(key, ""))
        if size is not None:
            found.append(facts.known(path, size, source=f".wslconfig {key}", unit="bytes"))
    count = whole(section.get("processors"))
    if count is not None and count > 0:
        found.append(facts.known("os.wsl_processors", count, source=".wslconfig processors"))
    return tuple(found)


def size_bytes(text: str) -> int | None:
    """Return 8GB in bytes; a bare number is bytes."""
    match = _SIZE.fullmatch(text.strip())
    return int(match[1]) * _UNITS[(match[2] or "B").upper()] if match else None


PROBE = Probe("WSL", read)
