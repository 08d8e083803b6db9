"""Facts of how NVIDIA cards are joined, and of how long each was held down since its start."""

import re

from app.core import facts
from app.core.host import NvmlValue
from app.core.machine import MachineFact

# nvml.h nvmlGpuTopologyLevel_t; nvidia-smi topo -m calls them X, PIX, PXB, PHB, NODE, SYS
_LEVELS = {
    0: "on one board",
    10: "through one PCIe switch",
    20: "through several PCIe switches",
    30: "through the processor's PCIe bridge",
    40: "through one processor, by two bridges",
    50: "from one processor to another",
}
_TOPOLOGY = re.compile(r"topology\.([0-9]{1,2})")
# what is asked of each card; where the answer is an error, that is a fact too
ASKED = (
    ("nvlinks", "nvlinks", ""),
    ("violation.power", "held_by_power", "s"),
    ("violation.thermal", "held_by_heat", "s"),
    ("ecc", "ecc", ""),
)
_LONGEST_NS = 10**18  # 30 years


def read(by_query: dict[str, NvmlValue], source: str) -> list[MachineFact]:
    """Return neighbours, nvlinks, held_by_* in s and ecc, as far as the card told them."""
    found = []
    ways = tuple(
        f"card {match[1]} of nvidia-smi: {_LEVELS[value.value]}"
        for query, value in by_query.items()
        if (match := _TOPOLOGY.fullmatch(query))
        and isinstance(value.value, int)
        and value.value in _LEVELS
    )
    if ways:
        found.append(facts.known("neighbours", ways, source=source))
    links = by_query.get("nvlinks")
    if links is not None and isinstance(links.value, int) and 0 <= links.value < 100:
        found.append(facts.known("nvlinks", links.value, source=source))
    for query, path, _unit in ASKED[1:3]:
        value = by_query.get(query)
        if value is not None and isinstance(value.value, int) and 0 <= value.value < _LONGEST_NS:
            seconds = value.value / 1_000_000_000
            found.append(facts.known(path, seconds, source=source, unit="s"))
    ecc = by_query.get("ecc")
    if ecc is not None and ecc.value in (0, 1):
        found.append(facts.known("ecc", ecc.value == 1, source=source))
    return found
