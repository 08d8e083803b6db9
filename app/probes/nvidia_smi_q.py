"""Reads what `nvidia-smi -q` prints, pasted by a person: the cards, block by block."""

import re

from app.core import facts
from app.core.machine import MachineFact
from app.core.units import MIB

SOURCE = "nvidia-smi -q"
_CARD = re.compile(r"^GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9]", re.MULTILINE)
_LINE = re.compile(r"^( *)([^:\n]{1,60}?) *(?:: ?(.*))?$")
_NUMBER = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,6}))?")
_MAX_CARDS = 32
# the section's headings from the outside in, joined by /
_WHOLE = (
    ("FB Memory Usage/Total", "memory_total", "bytes", MIB),
    ("FB Memory Usage/Free", "memory_free", "bytes", MIB),
    ("Temperature/GPU Current Temp", "temperature", "°C", 1),
    ("Max Clocks/Memory", "memory_clock_max", "MHz", 1),
    ("Max Clocks/SM", "clock_max", "MHz", 1),
    ("Clocks/Memory", "memory_clock", "MHz", 1),
    ("Clocks/SM", "clock", "MHz", 1),
    ("Utilization/Gpu", "busy", "%", 1),
    ("Utilization/GPU", "busy", "%", 1),
    ("GPU Link Info/PCIe Generation/Current", "pcie_generation", "", 1),
    ("GPU Link Info/PCIe Generation/Max", "pcie_generation_max", "", 1),
    ("GPU Link Info/Link Width/Current", "pcie_width", "lanes", 1),
    ("GPU Link Info/Link Width/Max", "pcie_width_max", "lanes", 1),
)
_REASONS = ("Clocks Event Reasons", "Clocks Throttle Reasons")


def parse(text: str) -> tuple[MachineFact, ...]:
    """Return the facts of the cards; empty for any other text."""
    head, *cards = _CARD.split(text[: 1 << 20])
    if not cards:
        return ()
    driver = _values(head).get("Driver Version", "")
    found: list[MachineFact] = []
    for index, card in enumerate(cards[:_MAX_CARDS]):
        found.extend(_card(_values(card), f"gpu.{index}", driver))
    return tuple(found)


def _card(values: dict[str, str], prefix: str, driver: str) -> list[MachineFact]:
    found = [facts.known(f"{prefix}.vendor", "NVIDIA", source=SOURCE)]
    for key, path in (("Product Name", "name"), ("Driver Model/Current", "driver_model")):
        text = values.get(key, "")
        if text and text not in ("N/A", "Unknown"):
            found.append(facts.known(f"{prefix}.{path}", text[:100], source=SOURCE))
    if driver:
        found.append(facts.known(f"{prefix}.driver", driver[:40], source=SOURCE))
    seen: set[str] = set()
    for key, path, unit, factor in _WHOLE:
        value = _end(values, key)
        match = _NUMBER.match(value)
        if match and path not in seen:
            seen.add(path)
            number = int(match[1]) * factor
            found.append(facts.known(f"{prefix}.{path}", number, source=SOURCE, unit=unit))
    for keys, path in (
        (("Power Draw", "Average Power Draw", "Instantaneous Power Draw"), "power"),
        (("Current Power Limit", "Enforced Power Limit", "Power Limit"), "power_limit"),
        (("Default Power Limit",), "power_default"),
    ):
        match = next((m for key in keys if (m := _NUMBER.match(_end(values, key)))), None)
        if match:
            watts = float(f"{match[1]}.{match[2] or 0}")
            found.append(facts.known(f"{prefix}.{path}", watts, source=SOURCE, unit="W"))
    active = tuple(
        key.rpartition("/")[2]
        for key, value in values.items()
        if value == "Active" and any(f"{name}/" in f"{key}/" for name in _REASONS)
    )
    if any(name in key for key in values for name in _REASONS):
        found.append(facts.known(f"{prefix}.clock_reasons", active, source=SOURCE))
    return found


def _end(values: dict[str, str], key: str) -> str:
    """Return the value whose path ends with key, the shortest path first."""
    paths = sorted((p for p in values if p == key or p.endswith(f"/{key}")), key=len)
    return values[paths[0]] if paths else ""


def _values(text: str) -> dict[str, str]:
    """Return value by path of headings; nesting is told by indentation only."""
    found: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in text.splitlines()[:5000]:
        match = _LINE.match(line)
        if match is None or not match[2].strip():
            continue
        depth, name, value = len(match[1]), match[2].strip(), match[3]
        while above and above[-1][0] >= depth:
            above.pop()
        if value is None or not value.strip():
            above.append((depth, name))
        else:
            path = "/".join((*(heading for _, heading in above), name))
            found.setdefault(path, value.strip())
    return found
