"""Intel GPUs on Linux: that they are there; their driver shows no memory size."""

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import drm
from app.probes.text import table

_VENDOR = "0x8086"


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
    reason = "Intel's driver does not show it in sysfs; the device list of llama.cpp has it"
    found += [
        facts.missing(
            f"{prefix}.{path}", State.UNSUPPORTED, source=source, reason=reason, unit="bytes"
        )
        for path in ("memory_total", "memory_free")
    ]
    return tuple(found)


PROBE = Probe("Intel", read)
