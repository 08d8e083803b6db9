"""Reads the JSON of AMD's own tools, where they are installed: amd-smi, and the older rocm-smi."""

import json
import re
from dataclasses import dataclass
from typing import Any

from app.core.units import MIB

STATIC = ("static", "--json")
MEMINFO = ("--showmeminfo", "vram", "gtt", "--json")
_MAX_CARDS = 64
_MAX_BYTES = 1 << 44


@dataclass(frozen=True, slots=True)
class Card:
    """One card; None = not told."""

    name: str | None = None
    address: str | None = None  # PCI, 0000:03:00.0
    total_bytes: int | None = None
    used_bytes: int | None = None
    bus_bits: int | None = None
    bandwidth: int | None = None  # bytes/s
    kind: str | None = None  # "GDDR6"


def parse_static(text: str) -> tuple[Card, ...]:
    """Read `amd-smi static --json`; sizes are MiB, the bandwidth (since ROCm 6.4) GB/s."""
    value = _json(text)
    if isinstance(value, dict):  # ROCm 7 wraps the list
        value = value.get("gpu_data")
    if not isinstance(value, list):
        return ()
    return tuple(_static(item) for item in value[:_MAX_CARDS] if isinstance(item, dict))


def parse_meminfo(text: str) -> tuple[Card, ...]:
    """Read `rocm-smi --showmeminfo vram gtt --json`; warnings stand before it."""
    value = _json(text)
    if not isinstance(value, dict):
        return ()
    names = sorted(
        (n for n in value if re.fullmatch(r"card[0-9]{1,3}", n)), key=lambda n: int(n[4:])
    )
    found = []
    for name in names[:_MAX_CARDS]:
        item = value[name]
        if not isinstance(item, dict):
            continue
        found.append(
            Card(
                total_bytes=_bytes(item.get("VRAM Total Memory (B)")),
                used_bytes=_bytes(item.get("VRAM Total Used Memory (B)")),
            )
        )
    return tuple(found)


def _static(item: dict[str, Any]) -> Card:
    vram, asic, bus = (_object(item, name) for name in ("vram", "asic", "bus"))
    size = _amount(vram.get("size"))
    speed = _amount(vram.get("max_bandwidth"))
    kind, name, address = vram.get("type"), asic.get("market_name"), bus.get("bdf")
    return Card(
        name=name[:100] if isinstance(name, str) and name not in ("", "N/A") else None,
        address=address.lower()[:20] if isinstance(address, str) else None,
        total_bytes=size * MIB if size else None,
        bus_bits=_amount(vram.get("bit_width")) or None,
        bandwidth=speed * 10**9 if speed else None,
        kind=kind[:20] if isinstance(kind, str) and kind not in ("", "N/A", "UNKNOWN") else None,
    )


def _amount(value: object) -> int | None:
    """Return a number, bare or as {"value": 24560, "unit": "MB"}; N/A is None."""
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value < 1 << 30 else None


def _bytes(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < _MAX_BYTES else None


def _object(item: dict[str, Any], name: str) -> dict[str, Any]:
    value = item.get(name)
    return value if isinstance(value, dict) else {}


def _json(text: str) -> Any:
    """Return the JSON document in a text, after warnings such as `low-power state`."""
    starts = [index for mark in "{[" if (index := text.find(f"\n{mark}")) >= 0]
    body = text if text[:1] in ("{", "[") else text[min(starts, default=len(text)) :]
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
