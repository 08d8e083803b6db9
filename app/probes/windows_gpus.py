"""Graphics cards of other makers on Windows: DXGI, registry, counters; NVIDIA's have their own."""

import re
from dataclasses import dataclass

from app.core import facts
from app.core.host import Adapter, Basics, Host, ListedGpu
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import pdh

_REGISTRY = "registry, class of display adapters"
_DXGI = "DXGI"
_VENDORS = {0x1002: "AMD", 0x8086: "Intel", 0x4D4F4351: "Qualcomm", 0x5143: "Qualcomm"}
_NVIDIA, _MICROSOFT = 0x10DE, 0x1414
# not cards: Windows' own driver, and screens of remote sessions and of virtual machines
_NOT_CARDS = ("microsoft", "remote", "virtual", "vmware", "parsec", "citrix", "nvidia")
# an integrated GPU is given a little memory of its own by the firmware and shares the rest
_SMALL_BYTES = 2 << 30
_RUNTIMES = re.compile(r"llama|ollama|lm[ -]?studio|kobold|node", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Card:
    """One card, by what each of the two lists says of it."""

    name: str
    adapter: Adapter | None
    listed: ListedGpu | None


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return the facts of the cards, or windows.search with the reason for none."""
    if host.platform() != "win32":
        return ()
    basics = host.basics()
    return (*_search(basics), *_spilled(host, basics))


def _search(basics: Basics) -> tuple[MachineFact, ...]:
    if basics.gpus is None and basics.adapters is None:
        reason = "neither DXGI nor the registry could be read"
        return (facts.searched("windows", State.MISSING, source=_REGISTRY, reason=reason),)
    cards = _cards(basics)
    if not cards:
        reason = "Windows lists no card of AMD, Intel or others"
        return (facts.searched("windows", State.ABSENT, source=_REGISTRY, reason=reason),)
    return tuple(fact for i, card in enumerate(cards) for fact in _facts(basics, card, f"gpu.{i}"))


def _spilled(host: Host, basics: Basics) -> tuple[MachineFact, ...]:
    """Say what a runtime keeps in system memory although a card with its own memory is there.

    Windows' drivers do that instead of failing when the card is full (hardware.md section 5).
    """
    cards = [a for a in basics.adapters or () if a.own_bytes >= _SMALL_BYTES and not a.is_software]
    found = [
        size
        for process in host.processes()
        if _RUNTIMES.search(process.name)
        for card in cards
        if (size := pdh.spilled_bytes(basics.counters or (), process.pid, card.luid)) is not None
    ]
    if not found:
        return ()
    source = "GPU Process Memory, Non Local Usage"
    return (facts.known("memory.spilled", max(found), source=source, unit="bytes"),)


def _cards(basics: Basics) -> list[_Card]:
    listed = [
        gpu for gpu in basics.gpus or () if not any(word in gpu.name.lower() for word in _NOT_CARDS)
    ]
    adapters = [
        adapter
        for adapter in basics.adapters or ()
        if not adapter.is_software
        and adapter.vendor not in (_NVIDIA, _MICROSOFT)
        and not any(word in adapter.name.lower() for word in _NOT_CARDS)
    ]
    if basics.adapters is None:  # the registry also keeps cards that were taken out
        return [_Card(gpu.name, None, gpu) for gpu in listed]
    found = []
    for adapter in adapters:
        gpu = next((g for g in listed if g.name.lower() == adapter.name.lower()), None)
        if gpu is not None:
            listed.remove(gpu)
        found.append(_Card(adapter.name, adapter, gpu))
    return found


def _facts(basics: Basics, card: _Card, prefix: str) -> tuple[MachineFact, ...]:
    adapter, listed = card.adapter, card.listed
    source = _DXGI if adapter else _REGISTRY
    found = [facts.known(f"{prefix}.name", card.name[:200], source=source)]
    vendor = _VENDORS.get(adapter.vendor) if adapter else None
    if vendor:
        found.append(facts.known(f"{prefix}.vendor", vendor, source=_DXGI))
    if listed is not None and listed.driver:
        found.append(facts.known(f"{prefix}.driver", listed.driver[:60], source=_REGISTRY))
    if adapter is not None:
        if adapter.own_bytes < _SMALL_BYTES < adapter.shared_bytes:
            how = f"{_DXGI}: little memory of its own"
            found.append(facts.known(f"{prefix}.is_unified", True, source=how))
        found.append(
            facts.known(f"{prefix}.shared_limit", adapter.shared_bytes, source=_DXGI, unit="bytes")
        )
    total = _total(card)
    path, where = f"{prefix}.memory_total", f"{_REGISTRY}, qwMemorySize"
    if total is not None:
        from_registry = listed is not None and listed.memory_bytes == total
        found.append(
            facts.known(path, total, source=where if from_registry else _DXGI, unit="bytes")
        )
    else:
        reason = "its driver did not write it"
        found.append(
            facts.missing(path, State.UNSUPPORTED, source=where, reason=reason, unit="bytes")
        )
    found.append(_free(basics, adapter, total, prefix))
    return tuple(found)


def _total(card: _Card) -> int | None:
    """Return the registry's size, which is whole; DXGI's leaves out what the driver keeps."""
    if card.listed is not None and card.listed.memory_bytes is not None:
        return card.listed.memory_bytes
    return card.adapter.own_bytes or None if card.adapter else None


def _free(basics: Basics, adapter: Adapter | None, total: int | None, prefix: str) -> MachineFact:
    path, source = f"{prefix}.memory_free", "GPU Adapter Memory, Dedicated Usage"
    if adapter is not None and total is not None and basics.counters is not None:
        used = pdh.used_bytes(basics.counters, adapter.luid, "Dedicated Usage")
        if used is not None and 0 <= used <= total:
            return facts.known(path, total - used, source=source, unit="bytes")
    reason = "Windows does not tell it; the device list of llama.cpp does"
    return facts.missing(path, State.UNSUPPORTED, source=source, reason=reason, unit="bytes")


PROBE = Probe("Windows graphics cards", read)
