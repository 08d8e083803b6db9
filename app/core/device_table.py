"""The table of devices: memory bandwidth by name, each row with its source."""

import csv
import io
import math
import re
from dataclasses import dataclass

CONFIDENCE = {
    "a": "commonly published",
    "b": "probable",
    "c": "varies between machines",
}
_DROPPED = re.compile(r"\(r\)|\(tm\)|\((?:radv|dg2|bmg|amd|llvm)[^)]*\)|\bnvidia\b|\bgraphics\b")
_CORES = re.compile(r" \((\d+)-core gpu\)$")
_SIZES = re.compile(r" \(([\d or]+) gb\)$")
_GB = 10**9
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Row:
    """One device; bandwidth in bytes per second."""

    name: str
    vendor: str
    memory_gb: float
    bandwidth: int
    bus_bits: int
    pin_gbps: float
    is_unified: bool
    confidence: str  # a, b or c
    source: str
    note: str


def parse(text: str) -> tuple[Row, ...]:
    """Read the table; a row that is not whole is a bug and raises."""
    return tuple(
        Row(
            name=row["name"],
            vendor=row["vendor"],
            memory_gb=float(row["memory_gb"]),
            bandwidth=round(float(row["bandwidth_gbs"]) * _GB),
            bus_bits=int(row["bus_bits"]),
            pin_gbps=float(row["pin_gbps"]),
            is_unified=row["unified"] == "y",
            confidence=row["confidence"],
            source=row["source"],
            note=row["note"],
        )
        for row in csv.DictReader(io.StringIO(text))
    )


def match(
    rows: tuple[Row, ...], name: str, memory_bytes: int | None = None, cores: int | None = None
) -> Row | None:
    """Return the row of a device by the name its driver or llama.cpp gives.

    Equal names are told apart by memory (3060 with 8 or 12 GB) and by GPU cores (Apple's Max).
    A laptop's name never matches the desktop's, as the whole name must be equal.
    """
    wanted = plain(name)
    if not wanted:
        return None
    found = [row for row in rows if plain(_bare(row.name)) == wanted]
    by_cores = [row for row in found if (m := _CORES.search(row.name.lower())) and m[1]]
    if by_cores:
        # without the count of cores both bins are possible: say nothing rather than guess
        return next((r for r in by_cores if f"({cores}-core" in r.name), None)
    if len(found) < 2 or not memory_bytes:
        return found[0] if len(found) == 1 else None
    return min(found, key=lambda row: abs(math.log(row.memory_gb * _GIB / memory_bytes)))


def plain(name: str) -> str:
    """Return a name for comparing: lower case, without the maker and marks."""
    text = _DROPPED.sub(" ", name.lower())
    if text.strip().startswith("apple"):
        text = re.sub(r" gpu$", "", text.strip())
    return " ".join(text.split())


def _bare(name: str) -> str:
    """Return Apple's name without what the table adds to tell two of one name apart."""
    lowered = name.lower()
    return _SIZES.sub("", _CORES.sub("", lowered))
