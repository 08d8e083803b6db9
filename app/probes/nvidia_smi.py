"""Reads the CSV of nvidia-smi, the fallback where NVIDIA's library cannot be loaded."""

import csv
import io
import re
from typing import Protocol

from app.core import clock_reasons, facts
from app.core.host import CommandResult
from app.core.machine import MachineFact
from app.core.reading import State
from app.core.units import MIB

PLACES = ("/usr/lib/wsl/lib/nvidia-smi", r"C:\Windows\System32\nvidia-smi.exe")
# in groups: one unknown field makes the program print no table at all (exit code 2)
GROUPS = (
    ("index", "name", "memory.total", "memory.free", "driver_version"),
    (
        "index",
        "temperature.gpu",
        "pcie.link.gen.current",
        "pcie.link.gen.max",
        "pcie.link.width.current",
        "pcie.link.width.max",
        "clocks.max.memory",
        "compute_cap",
    ),
    (
        "index",
        "utilization.gpu",
        "power.draw",
        "power.limit",
        "clocks.sm",
        "clocks.mem",
        "clocks_event_reasons.active",
    ),
)
_SOURCE = "nvidia-smi"
_COLUMNS = (
    ("name", "name", ""),
    ("driver_version", "driver", ""),
    ("memory.total", "memory_total", "bytes"),
    ("memory.free", "memory_free", "bytes"),
    ("temperature.gpu", "temperature", "°C"),
    ("pcie.link.gen.current", "pcie_generation", ""),
    ("pcie.link.gen.max", "pcie_generation_max", ""),
    ("pcie.link.width.current", "pcie_width", "lanes"),
    ("pcie.link.width.max", "pcie_width_max", "lanes"),
    ("clocks.max.memory", "memory_clock_max", "MHz"),
    ("compute_cap", "compute_capability", ""),
    ("utilization.gpu", "busy", "%"),
    ("power.draw", "power", "W"),
    ("power.limit", "power_limit", "W"),
    ("clocks.sm", "clock", "MHz"),
    ("clocks.mem", "memory_clock", "MHz"),
    ("clocks_event_reasons.active", "clock_reasons", ""),
)
_TEXTS = ("name", "driver_version", "compute_cap")
_MASK = re.compile(r"0x[0-9a-fA-F]{1,16}")
_NUMBER = re.compile(r"([0-9]{1,12})(\.[0-9]{1,6})?(?: .*)?")
_STATES = {
    "[N/A]": (State.UNSUPPORTED, "the card does not report it"),
    "[Not Supported]": (State.UNSUPPORTED, "the card does not report it"),
    "[Insufficient Permissions]": (State.DENIED, "the driver refuses this user"),
}
_MAX_CARDS = 64
_MAX_LINE = 10_000


class UnifiedMemory(Protocol):
    """The memory of a card that shares the system's; sizes in bytes."""

    @property
    def total_bytes(self) -> int | None:
        """Return the total."""

    @property
    def free_bytes(self) -> int | None:
        """Return what is free."""

    @property
    def source(self) -> str:
        """Return where the figures come from."""


def argv(program: str, fields: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that asks for these fields."""
    return (program, f"--query-gpu={','.join(fields)}", "--format=csv,nounits")


def parse(text: str) -> tuple[dict[str, str], ...]:
    """Return one row per card by column name, without units; empty for anything but CSV."""
    # no line of the program is longer; the csv module refuses fields of 128 KiB with an exception
    lines = [
        line
        for line in text.splitlines()
        if line.strip() and not line.startswith("#") and len(line) < _MAX_LINE
    ]
    rows = list(csv.reader(io.StringIO("\n".join(lines[: _MAX_CARDS + 1])), skipinitialspace=True))
    if len(rows) < 2 or ("name" not in " ".join(rows[0]) and "index" not in " ".join(rows[0])):
        return ()
    names = [name.split("[", 1)[0].strip() for name in rows[0]]
    if len(names) < 2:  # an error text is one column
        return ()
    return tuple(
        dict(zip(names, (value.strip() for value in row), strict=True))
        for row in rows[1:]
        if len(row) == len(names)
    )


def card_facts(
    answers: tuple[CommandResult, ...], system: UnifiedMemory
) -> tuple[MachineFact, ...]:
    """Return the facts of all cards from the answers to GROUPS; empty when there is no card."""
    tables = [parse(answer.stdout) for answer in answers if answer.state is State.KNOWN]
    if not tables or not tables[0]:
        return ()
    found: list[MachineFact] = []
    for index, first in enumerate(tables[0]):
        row = dict(first)
        for other in tables[1:]:
            row |= next((r for r in other if r.get("index") == first.get("index")), {})
        found.append(facts.known(f"gpu.{index}.vendor", "NVIDIA", source=_SOURCE))
        unified = _is_unified(row, system)
        if unified:
            found.extend(_unified(index, system))
        for column, path, unit in _COLUMNS:
            if column in row and not (unified and column.startswith("memory.")):
                found.append(_fact(f"gpu.{index}.{path}", column, row[column], unit))
    return tuple(found)


def _is_unified(row: dict[str, str], system: UnifiedMemory) -> bool:
    # GB10: [N/A] in every memory column (nvidia-smi-gb10.csv, driver 580.173.02)
    columns = [row[name] for name in ("memory.total", "memory.free") if name in row]
    return bool(columns) and set(columns) == {"[N/A]"} and system.total_bytes is not None


def _unified(index: int, system: UnifiedMemory) -> list[MachineFact]:
    how = f"{system.source} (the card shares the system's memory; {_SOURCE} reports none)"
    found = [facts.known(f"gpu.{index}.is_unified", True, source=_SOURCE)]
    for path, value in (("memory_total", system.total_bytes), ("memory_free", system.free_bytes)):
        if value is not None:
            found.append(facts.known(f"gpu.{index}.{path}", value, source=how, unit="bytes"))
    return found


def _fact(path: str, column: str, value: str, unit: str) -> MachineFact:
    if value.startswith("[") or value in ("", "ERR!", "N/A"):
        state, reason = _STATES.get(value, (State.ERROR, f"{_SOURCE} prints {value or 'nothing'}"))
        return facts.missing(path, state, source=_SOURCE, reason=reason, unit=unit)
    if column in _TEXTS:
        return facts.known(path, value[:200], source=_SOURCE)
    if path.endswith(".clock_reasons") and _MASK.fullmatch(value):
        return facts.known(path, clock_reasons.words(int(value, 16)), source=_SOURCE)
    match = _NUMBER.fullmatch(value)  # "24576 MiB", "11.17 W" where nounits was not asked for
    if match is None:
        reason = f"{_SOURCE} prints {value[:40]!r}"
        return facts.missing(path, State.ERROR, source=_SOURCE, reason=reason, unit=unit)
    if match[2]:
        return facts.known(path, float(match[1] + match[2]), source=_SOURCE, unit=unit)
    number = int(match[1])
    return facts.known(path, number * MIB if unit == "bytes" else number, source=_SOURCE, unit=unit)
