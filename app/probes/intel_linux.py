"""Intel GPUs on Linux, drivers i915 and xe: clocks and BAR; they show no memory size."""

import re

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.core.units import MIB
from app.probes import drm, pcie
from app.probes.text import table, whole

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
    return tuple(
        fact for index, name in enumerate(cards) for fact in _card(host, name, f"gpu.{index}")
    )


def _card(host: Host, name: str, prefix: str) -> tuple[MachineFact, ...]:
    source = f"{drm.ROOT}/{name}/device"
    found = [
        facts.known(f"{prefix}.vendor", "Intel", source=source),
        facts.known(f"{prefix}.name", drm.title(host, name, "Intel"), source=source),
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
    reason = "Intel's driver does not show it in sysfs; the device list of llama.cpp has it"
    found += [
        facts.missing(
            f"{prefix}.{path}", State.UNSUPPORTED, source=source, reason=reason, unit="bytes"
        )
        for path in ("memory_total", "memory_free")
    ]
    return tuple(found)


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
