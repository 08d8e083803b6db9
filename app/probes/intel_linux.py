"""Intel GPUs on Linux, drivers i915 and xe: name, memory, clocks and BAR."""

import re

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.core.units import MIB
from app.probes import drm, intel_limits, pcie, vulkan
from app.probes.memory import MEMINFO, kib_line
from app.probes.text import table, whole
from app.probes.vulkan import VulkanDevice

_Told = tuple[int | None, str]  # bytes, and where they are from
_VENDOR = "0x8086"
_SMALL_BAR = 256 * MIB
# xe: tile0/gt0/freq0/..., below the device; i915: gt/gt0/rps_..., beside it
_XE = "device/tile0/gt0/freq0"
_I915 = "gt/gt0"


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return the facts of all Intel GPUs, or intel.search with the reason for none."""
    if host.platform() != "linux":
        return ()
    cards = drm.cards(host, _VENDOR)
    if not cards:
        reason = drm.none_reason(host, "Intel")
        return (facts.searched("intel", State.ABSENT, source=drm.ROOT, reason=reason),)
    listed = vulkan.parse(vulkan.ask(host).stdout)
    return tuple(
        fact
        for index, name in enumerate(cards)
        for fact in _card(host, name, f"gpu.{index}", _listed(host, name, listed))
    )


def _card(
    host: Host, name: str, prefix: str, listed: VulkanDevice | None
) -> tuple[MachineFact, ...]:
    source = f"{drm.ROOT}/{name}/device"
    title, how = drm.title(host, name, "Intel"), source
    if listed is not None and title.startswith("Intel GPU"):  # numbers only
        title, how = listed.name, vulkan.PROGRAM
    found = [
        facts.known(f"{prefix}.vendor", "Intel", source=source),
        facts.known(f"{prefix}.name", title, source=how),
    ]
    driver = table(host.read_text(f"{source}/uevent"), "=").get("DRIVER")  # i915 or xe
    if driver:
        found.append(facts.known(f"{prefix}.driver", driver[:40], source=source))
    bar = pcie.bar_bytes(host.read_text(f"{source}/resource"))
    is_integrated = is_on_root_bus(host.real_path(source))
    if is_integrated:
        how = "it sits on the processor's own bus"
        found.append(facts.known(f"{prefix}.is_unified", True, source=how))
    elif is_integrated is False:
        found.extend(pcie.link_facts(host, source, prefix))
        if bar is not None and bar >= _SMALL_BAR:
            where = f"{source}/resource"
            found.append(facts.known(f"{prefix}.resizable_bar", bar > _SMALL_BAR, source=where))
    found.extend(_clocks(host, name, prefix))
    found.extend(intel_limits.read(host, name, prefix))
    found.extend(_memory(host, name, prefix, listed, is_integrated=is_integrated is True))
    return tuple(found)


def _memory(
    host: Host, name: str, prefix: str, listed: VulkanDevice | None, *, is_integrated: bool
) -> list[MachineFact]:
    """Return total and free: the machine's for an integrated GPU, else what tells a card's."""
    if is_integrated:
        text = host.read_text(MEMINFO)
        how = f"{MEMINFO} (the GPU works in the system's memory)"
        total, free = (kib_line(text, "MemTotal"), how), (kib_line(text, "MemAvailable"), how)
    else:
        total, free = _own_memory(host, name, listed)
    reason = (
        "Intel's driver shows it to administrators only; vulkaninfo or the device list of "
        "llama.cpp has it"
    )
    return [
        facts.known(f"{prefix}.{path}", value, source=how, unit="bytes")
        if value is not None
        else facts.missing(
            f"{prefix}.{path}", State.UNSUPPORTED, source=how, reason=reason, unit="bytes"
        )
        for path, (value, how) in (("memory_total", total), ("memory_free", free))
    ]


def _own_memory(host: Host, name: str, listed: VulkanDevice | None) -> tuple[_Told, _Told]:
    """Return a card's memory and what is free of it, each with where it is from."""
    source = f"{drm.ROOT}/{name}"
    total: _Told = (None, source)
    free: _Told = (None, source)
    if listed is not None and listed.kind == "card":
        total = (listed.memory_bytes, f"{vulkan.PROGRAM}: device-local heaps")
        free = (listed.free_bytes, f"{vulkan.PROGRAM}: budget less usage of the heaps")
    # xe tells each tile's; Intel's own package of i915 tells one sum (lmem)
    tiles = [
        size
        for tile in host.list_dir(f"{source}/device")
        if re.fullmatch(r"tile[0-9]", tile)
        and (size := whole(host.read_text(f"{source}/device/{tile}/physical_vram_size_bytes")))
    ]
    local = whole(host.read_text(f"{source}/lmem_total_bytes"))
    if tiles:
        total = (sum(tiles), f"{source}/device/tile*/physical_vram_size_bytes")
    elif local:
        total = (local, f"{source}/lmem_total_bytes")
        left = whole(host.read_text(f"{source}/lmem_avail_bytes"))
        free = free if left is None else (left, f"{source}/lmem_avail_bytes")
    return total, free


def _listed(host: Host, name: str, listed: tuple[VulkanDevice, ...]) -> VulkanDevice | None:
    """Return what vulkaninfo says of a card, by its PCI numbers; two of one kind are not told."""
    number = drm.first_line(host, name, "device") or ""
    same = [
        device
        for device in listed
        if device.vendor == int(_VENDOR, 16) and number == f"0x{device.device or 0:04x}"
    ]
    return same[0] if len(same) == 1 else None


def is_on_root_bus(real: str) -> bool | None:
    """Tell an integrated GPU, which is device 02.0 of bus 0; None = the path does not tell."""
    folders = pcie.path_to_root(real)
    if not folders:
        return None
    return re.search(r":00:02\.[0-9]$", folders[0]) is not None and len(folders) == 1


def _clocks(host: Host, name: str, prefix: str) -> list[MachineFact]:
    card = f"{drm.ROOT}/{name}"
    found = []
    for path, files in (
        ("clock", (f"{_XE}/act_freq", f"{_I915}/rps_act_freq_mhz", "gt_act_freq_mhz")),
        ("clock_max", (f"{_XE}/max_freq", f"{_I915}/rps_max_freq_mhz", "gt_max_freq_mhz")),
    ):
        for file in files:
            value = whole(host.read_text(f"{card}/{file}"))
            # act_freq is 0 while the GPU sleeps, which is no clock
            if value is not None and 0 < value < 10_000:
                source = f"{card}/{file}"
                found.append(facts.known(f"{prefix}.{path}", value, source=source, unit="MHz"))
                break
    return found


PROBE = Probe("Intel", read)
