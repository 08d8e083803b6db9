"""AMD cards on Linux: what the amdgpu driver shows in sysfs, no library needed."""

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import drm
from app.probes.drm import first_line
from app.probes.text import whole

_VENDOR = "0x1002"
_POOLS = (
    ("memory_total", "mem_info_vram_total"),
    ("gtt_total", "mem_info_gtt_total"),
    ("gtt_used", "mem_info_gtt_used"),
    ("visible_vram", "mem_info_vis_vram_total"),
)


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return the facts of all AMD cards, or amd.search with the reason for none.

    The pools stay apart: VRAM and GTT of an integrated GPU together can exceed the machine.
    """
    if host.platform() != "linux":
        return ()
    cards = drm.cards(host, _VENDOR)
    if not cards:
        reason = drm.none_reason(host, "AMD")
        return (facts.searched("amd", State.ABSENT, source=drm.ROOT, reason=reason),)
    found: list[MachineFact] = []
    for index, name in enumerate(cards):
        found.extend(_card(host, name, f"gpu.{index}"))
    return tuple(found)


def _card(host: Host, name: str, prefix: str) -> list[MachineFact]:
    source = f"{drm.ROOT}/{name}/device"
    found = [
        facts.known(f"{prefix}.vendor", "AMD", source=source),
        facts.known(f"{prefix}.name", drm.title(host, name, "AMD"), source=source),
    ]
    for path, file in _POOLS:
        value = whole(first_line(host, name, file))
        if value is not None and value >= 0:
            found.append(
                facts.known(f"{prefix}.{path}", value, source=f"{source}/{file}", unit="bytes")
            )
            continue
        reason = "the driver does not show it, or the card is asleep"
        found.append(
            facts.missing(
                f"{prefix}.{path}",
                State.UNSUPPORTED,
                source=f"{source}/{file}",
                reason=reason,
                unit="bytes",
            )
        )
    found.append(_free(host, name, prefix, source))
    level = first_line(host, name, "power_dpm_force_performance_level")
    if level:
        found.append(facts.known(f"{prefix}.performance_level", level, source=source))
    return found


def _free(host: Host, name: str, prefix: str, source: str) -> MachineFact:
    total = whole(first_line(host, name, "mem_info_vram_total"))
    used = whole(first_line(host, name, "mem_info_vram_used"))
    path, where = f"{prefix}.memory_free", f"{source}/mem_info_vram_total, _used"
    if total is None or used is None or not 0 <= used <= total:
        reason = "the driver does not show what is used"
        return facts.missing(path, State.UNSUPPORTED, source=where, reason=reason, unit="bytes")
    return facts.known(path, total - used, source=where, unit="bytes")


PROBE = Probe("AMD", read)
