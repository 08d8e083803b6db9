"""The PCIe link of a card on Linux: the slowest part of the way to the processor."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.probes.text import whole

_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
# GT/s as the kernel writes them to the generation
_GENERATIONS = {"2.5": 1, "5.0": 2, "5": 2, "8.0": 3, "8": 3, "16.0": 4, "16": 4,
                "32.0": 5, "32": 5, "64.0": 6, "64": 6}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """Generation and lanes now and at most; None = not told."""

    generation: int | None = None
    generation_max: int | None = None
    width: int | None = None
    width_max: int | None = None


def link(host: Host, device: str) -> Link:
    """Return the least of all bridges up to the root port; cards contain a switch of their own."""
    folders = path_to_root(host.real_path(device)) or (device,)
    return Link(
        generation=_least(_generation(host, f, "current_link_speed") for f in folders),
        generation_max=_least(_generation(host, f, "max_link_speed") for f in folders),
        width=_least(_width(host, f, "current_link_width") for f in folders),
        width_max=_least(_width(host, f, "max_link_width") for f in folders),
    )


def link_facts(host: Host, device: str, prefix: str) -> list[MachineFact]:
    """Return what is known of a card's link; an integrated GPU has none."""
    found = link(host, device)
    source = f"{device} and the bridges above it"
    return [
        facts.known(f"{prefix}.{path}", value, source=source, unit=unit)
        for path, value, unit in (
            ("pcie_generation", found.generation, ""),
            ("pcie_generation_max", found.generation_max, ""),
            ("pcie_width", found.width, "lanes"),
            ("pcie_width_max", found.width_max, "lanes"),
        )
        if value is not None
    ]


def path_to_root(real: str) -> tuple[str, ...]:
    """Return the folders of a PCI device and of the bridges above it; empty for other devices."""
    parts = real.split("/")
    return tuple(
        "/".join(parts[: index + 1]) for index, part in enumerate(parts) if _ADDRESS.fullmatch(part)
    )


def bar_bytes(text: str | None) -> int | None:
    """Return the largest memory window of a card from its `resource` file.

    256 MiB where the card has more memory: resizable BAR is off.
    """
    sizes = []
    for line in (text or "").splitlines()[:6]:
        words = line.split()
        try:
            start, end = int(words[0], 16), int(words[1], 16)
        except (IndexError, ValueError):
            return None
        if end > start:
            sizes.append(end - start + 1)
    return max(sizes, default=None)


def _generation(host: Host, folder: str, file: str) -> int | None:
    words = (host.read_text(f"{folder}/{file}") or "").split()  # "16.0 GT/s PCIe"
    return _GENERATIONS.get(words[0]) if words else None


def _width(host: Host, folder: str, file: str) -> int | None:
    value = whole(host.read_text(f"{folder}/{file}"))
    # 0 and 255: an integrated device or a bridge without a link
    return value if value is not None and 0 < value <= 32 else None


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)
