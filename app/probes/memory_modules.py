"""Memory modules: how many, in how many channels, how fast they run and how fast they could."""

import json
import re
from dataclasses import dataclass
from typing import Any

from app.core import facts, units
from app.core.host import CommandResult, Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import edac
from app.probes.text import table, whole

DMIDECODE = ("-t", "17")
_DMI_PLACES = ("/usr/sbin/dmidecode", "/sbin/dmidecode")
POWERSHELL = (
    "powershell", "-NoProfile", "-NonInteractive", "-Command",
    "Get-CimInstance Win32_PhysicalMemory | Select-Object BankLabel,DeviceLocator,Capacity,Speed,"
    "ConfiguredClockSpeed,SMBIOSMemoryType,DataWidth | ConvertTo-Json",
)  # fmt: skip
PROFILER = ("system_profiler", "SPMemoryDataType", "-json")
# SMBIOS type numbers that Win32_PhysicalMemory passes on; 0 and 2 are "unknown"
_SMBIOS = {24: "DDR3", 26: "DDR4", 34: "DDR5", 29: "LPDDR3", 30: "LPDDR4", 35: "LPDDR5"}
_DMI_UNITS = {"MB": units.MIB, "GB": units.GIB, "TB": 1024 * units.GIB}
_MAX_MODULES = 256
_MAX_SPEED = 100_000  # MT/s; faster is not believed
# labels are free text of the board's maker; what does not match is "unknown", never a guess
_CHANNELS = (
    re.compile(
        r"(?:CONTROLLER|NODE|P|CPU)[ _]?(\d+)[-_ ]*(?:CHANNEL|CH)[ _]?([A-Z0-9])(?![A-Z0-9])", re.I
    ),
    re.compile(r"()CHANNEL[ _-]?([A-Z0-9])(?![A-Z0-9])", re.I),
    re.compile(r"^()DIMM[ _]?([A-H])\d$", re.I),
)
_WORTH_ASKING = ("memory.modules", "memory.channels", "memory.speed", "memory.speed_rated")


@dataclass(frozen=True, slots=True)
class Module:
    """One module; speeds in MT/s, None = not told."""

    n_bytes: int
    place: str
    kind: str = ""  # "DDR5"
    rated: int | None = None
    configured: int | None = None
    width_bits: int | None = None
    channel: str | None = None  # None = the label says nothing


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return memory.modules, channels, speeds and the bandwidth that follows from them."""
    platform = host.platform()
    if platform == "win32":
        answer = host.run(POWERSHELL, timeout_s=3.0)
        return _facts(answer, windows_modules(answer.stdout), "Win32_PhysicalMemory")
    if platform == "darwin":
        answer = host.run(PROFILER, timeout_s=3.0)
        return _facts(answer, apple_modules(answer.stdout), "system_profiler SPMemoryDataType")
    program = host.which("dmidecode") or next((p for p in _DMI_PLACES if host.is_file(p)), None)
    if program is None:
        reason = "dmidecode is not installed, and it needs administrator rights"
        return edac.read(host) or _missing(State.MISSING, "dmidecode", reason)
    answer = host.run((program, *DMIDECODE), timeout_s=2.0)
    modules = dmi_modules(answer.stdout)
    known = () if modules else edac.read(host)  # some servers tell it to everybody
    if known:
        return known
    if not modules and "ermission denied" in answer.stdout + answer.stderr:
        return _missing(State.DENIED, "dmidecode -t 17", "it needs administrator rights")
    return _facts(answer, modules, "dmidecode -t 17")


def dmi_modules(text: str) -> tuple[Module, ...]:
    """Read `dmidecode -t 17`; empty slots are left out. Its GB are GiB."""
    found = []
    for part in re.split(r"^[ \t]*Memory Device[ \t]*$", text[: 1 << 20], flags=re.MULTILINE)[1:]:
        lines = table(re.split(r"^Handle ", part, flags=re.MULTILINE)[0])
        words = lines.get("Size", "").split()
        size = whole(words[0]) if len(words) == 2 and words[1] in _DMI_UNITS else None
        if not size or not 0 < size < 1 << 20:
            continue
        place, bank = lines.get("Locator", ""), lines.get("Bank Locator", "")
        # "Configured Clock Speed" before dmidecode 3.2
        configured = lines.get("Configured Memory Speed") or lines.get("Configured Clock Speed")
        found.append(
            Module(
                n_bytes=size * _DMI_UNITS[words[1]],
                place=place[:40],
                kind=_kind(lines.get("Type", "")),
                rated=_speed(lines.get("Speed")),
                configured=_speed(configured),
                width_bits=_speed(lines.get("Data Width")),
                channel=channel_of(bank, place),
            )
        )
    return tuple(found[:_MAX_MODULES])


def windows_modules(text: str) -> tuple[Module, ...]:
    """Read Win32_PhysicalMemory as JSON; a single module is not wrapped in a list."""
    found = []
    for item in _items(text, None):
        size = item.get("Capacity")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 < size < 1 << 50:
            continue
        kind = item.get("SMBIOSMemoryType")
        place, bank = str(item.get("DeviceLocator") or ""), str(item.get("BankLabel") or "")
        found.append(
            Module(
                n_bytes=size,
                place=place[:40],
                kind=_SMBIOS.get(kind, "") if isinstance(kind, int) else "",
                rated=_speed(item.get("Speed")),
                configured=_speed(item.get("ConfiguredClockSpeed")),
                width_bits=_speed(item.get("DataWidth")),
                channel=channel_of(bank, place),
            )
        )
    return tuple(found[:_MAX_MODULES])


def apple_modules(text: str) -> tuple[Module, ...]:
    """Read `system_profiler SPMemoryDataType -json`; Apple silicon tells no speed."""
    found = []
    for item in _items(text, "SPMemoryDataType"):
        inner = item.get("_items")
        for one in inner if isinstance(inner, list) else [item]:
            if not isinstance(one, dict):
                continue
            words = str(one.get("SPMemoryDataType") or one.get("dimm_size") or "").split()
            size = whole(words[0]) if len(words) == 2 and words[1] in _DMI_UNITS else None
            if not size or not 0 < size < 1 << 20:
                continue
            speed = _speed(one.get("dimm_speed"))
            found.append(
                Module(
                    n_bytes=size * _DMI_UNITS[words[1]],
                    place=str(one.get("_name") or "")[:40],
                    kind=_kind(str(one.get("dimm_type") or "")),
                    configured=speed,
                )
            )
    return tuple(found[:_MAX_MODULES])


def channel_of(bank: str, place: str) -> str | None:
    """Return controller and channel of a module's labels, None when they do not tell."""
    for label in (bank, place):
        for pattern in _CHANNELS:
            match = pattern.search(label[:100].strip())
            if match:
                return f"{match[1]}{match[2].upper()}"
    return None


def module_facts(modules: tuple[Module, ...], source: str) -> tuple[MachineFact, ...]:
    """Return the facts that follow from the modules that are in."""
    words = tuple(_words(module) for module in modules)
    found = [facts.known("memory.modules", words, source=source)]
    channels = {module.channel for module in modules}
    if None in channels:
        reason = "the labels of the slots do not name the channels"
        found.append(
            facts.missing("memory.channels", State.UNSUPPORTED, source=source, reason=reason)
        )
    else:
        found.append(facts.known("memory.channels", len(channels), source=source))
    for path, speeds in (
        ("memory.speed", [m.configured for m in modules]),
        ("memory.speed_rated", [m.rated for m in modules]),
    ):
        known = [speed for speed in speeds if speed is not None]
        if len(known) == len(modules):  # the slowest module decides for all
            found.append(facts.known(path, min(known), source=source, unit="MT/s"))
            continue
        reason = f"{source} does not tell it"
        found.append(
            facts.missing(path, State.UNSUPPORTED, source=source, reason=reason, unit="MT/s")
        )
    found.append(_bandwidth(modules, source))
    return tuple(found)


def _bandwidth(modules: tuple[Module, ...], source: str) -> MachineFact:
    """Return MT/s x bits / 8 over the channels: 4800 on 2 x 64 bits is 76.8 GB/s."""
    path, how = "memory.bandwidth", f"{source}: speed x bus width"
    by_channel = {m.channel: m for m in modules}
    speeds = [m.configured for m in modules if m.configured is not None]
    if None in by_channel or len(speeds) < len(modules):
        reason = "speed and channels are not both known"
        return facts.missing(path, State.UNSUPPORTED, source=how, reason=reason, unit="bytes/s")
    bits = sum(module.width_bits or 64 for module in by_channel.values())
    return facts.known(path, min(speeds) * 1_000_000 * bits // 8, source=how, unit="bytes/s")


def _facts(
    answer: CommandResult, modules: tuple[Module, ...], source: str
) -> tuple[MachineFact, ...]:
    if modules:
        return module_facts(modules, source)
    if answer.state is not State.KNOWN:
        return _missing(answer.state, source, answer.reason)
    # LPDDR boards and virtual machines often describe no module
    return _missing(State.UNSUPPORTED, source, f"{source} describes no module")


def _missing(state: State, source: str, reason: str) -> tuple[MachineFact, ...]:
    return tuple(facts.missing(path, state, source=source, reason=reason) for path in _WORTH_ASKING)


def _words(module: Module) -> str:
    speed = module.configured or module.rated
    parts = (module.place, units.size(module.n_bytes), module.kind, f"{speed} MT/s" * bool(speed))
    return " ".join(part for part in parts if part)


def _kind(text: str) -> str:
    return text[:20] if re.fullmatch(r"(?:LP)?DDR\d[A-Z]?X?(?: ?SDRAM)?", text.strip()) else ""


def _speed(value: object) -> int | None:
    """Return MT/s or bits from a number or from text such as 4800 MT/s; Unknown is None."""
    if isinstance(value, str):
        value = whole(value.split()[0]) if value.split() else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= _MAX_SPEED else None


def _items(text: str, key: str | None) -> list[dict[str, Any]]:
    try:
        value = json.loads(text[: 1 << 20])
    except (ValueError, RecursionError):
        return []
    if key is not None:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return []
    return [item for item in value[:_MAX_MODULES] if isinstance(item, dict)]


PROBE = Probe("memory modules", read, time_limit_s=4.0)
