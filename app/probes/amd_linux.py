"""AMD cards on Linux: what the amdgpu driver shows in sysfs, no library needed."""

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import amd_sensors, amd_smi, drm, kfd, pcie
from app.probes.drm import first_line
from app.probes.memory import MEMINFO, kib_line
from app.probes.text import whole

_VENDOR = "0x1002"
_KFD_DEVICE = "/dev/kfd"
_TTM = "/sys/module/ttm/parameters/pages_limit"
_TTM_PAGE = 4096  # TTM counts 4 KiB pages on each kernel
_POOLS = (
    ("memory_total", "mem_info_vram_total"),
    ("gtt_total", "mem_info_gtt_total"),
    ("gtt_used", "mem_info_gtt_used"),
    ("visible_vram", "mem_info_vis_vram_total"),
)
# what the system itself needs of a machine whose memory the GPU may borrow
_RESERVE = 2 << 30


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
    gpu_nodes, told = kfd.nodes(host), _ask_tool(host)
    found: list[MachineFact] = []
    for index, name in enumerate(cards):
        render = host.list_dir(f"{drm.ROOT}/{name}/device/drm")
        node = kfd.node_of(gpu_nodes, render, index, len(cards))
        found.extend(_card(host, name, f"gpu.{index}", node, _told(host, told, name, index)))
    return tuple(found)


def usable_bytes(vram: int | None, gtt: int | None, ram: int | None) -> int | None:
    """Return what an integrated GPU can really use; VRAM + GTT can exceed the machine.

    A Strix Halo lends 128 GiB on a machine whose system sees 125 GiB (amdgpu-strix-halo-sysfs).
    """
    if vram is None or gtt is None or ram is None:
        return None
    return max(0, min(vram + gtt, ram + vram - _RESERVE))


def is_integrated(vram: int | None, gtt: int | None, gfx: str | None) -> bool | None:
    """Tell an integrated GPU by its gfx name, or by borrowing far more than it has."""
    if gfx in ("gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1103", "gfx1036", "gfx1035",
               "gfx90c", "gfx902"):  # fmt: skip
        return True
    if vram is None or gtt is None:
        return None
    return gtt > 4 * vram


def _card(
    host: Host, name: str, prefix: str, node: kfd.Node | None, told: amd_smi.Card | None
) -> list[MachineFact]:
    source = f"{drm.ROOT}/{name}/device"
    title = drm.title(host, name, "AMD")
    found = [facts.known(f"{prefix}.vendor", "AMD", source=source)]
    if told is not None and told.name and title.startswith("AMD GPU"):
        found.append(facts.known(f"{prefix}.name", told.name, source="amd-smi"))
    else:
        found.append(facts.known(f"{prefix}.name", title, source=source))
    pools = {path: whole(first_line(host, name, file)) for path, file in _POOLS}
    for path, file in _POOLS:
        found.append(_pool(f"{prefix}.{path}", pools[path], f"{source}/{file}", told, node))
    found.append(_free(host, name, prefix, source))
    found.extend(_shared(host, prefix, pools, node))
    vram, visible = pools["memory_total"], pools["visible_vram"]
    if vram and visible and 0 < visible <= vram:
        where = f"{source}/mem_info_vis_vram_total"
        found.append(facts.known(f"{prefix}.resizable_bar", visible == vram, source=where))
    level = first_line(host, name, "power_dpm_force_performance_level")
    if level:
        found.append(facts.known(f"{prefix}.performance_level", level[:40], source=source))
    found.extend(amd_sensors.read(host, name, prefix))
    found.extend(pcie.link_facts(host, source, prefix))
    if node is not None and node.gfx:
        found.append(facts.known(f"{prefix}.gfx", node.gfx, source=kfd.ROOT))
    found.extend(_bus(prefix, node, told))
    found.extend(_access(host, name, prefix))
    return found


def _access(host: Host, name: str, prefix: str) -> list[MachineFact]:
    """Say which device files are shut for us: ROCm then finds no device, Vulkan sometimes one."""
    render = host.list_dir(f"{drm.ROOT}/{name}/device/drm")
    shut = [
        path
        for path in (_KFD_DEVICE, *(f"/dev/dri/{n}" for n in render if n.startswith("renderD")))
        if host.may_use(path) is False
    ]
    if not shut:
        return []
    reason = f"this user may not use {' and '.join(shut)}"
    return [facts.missing(f"{prefix}.access", State.DENIED, source=" ".join(shut), reason=reason)]


def _pool(
    path: str, value: int | None, source: str, told: amd_smi.Card | None, node: kfd.Node | None
) -> MachineFact:
    if value is not None and value >= 0:
        return facts.known(path, value, source=source, unit="bytes")
    if path.endswith(".memory_total"):  # others know it while the card sleeps
        if told is not None and told.total_bytes:
            how = "amd-smi or rocm-smi"
            return facts.known(path, told.total_bytes, source=how, unit="bytes")
        if node is not None and node.memory_bytes:
            return facts.known(path, node.memory_bytes, source=kfd.ROOT, unit="bytes")
    reason = "the driver does not show it, or the card is asleep"
    return facts.missing(path, State.UNSUPPORTED, source=source, reason=reason, unit="bytes")


def _shared(
    host: Host, prefix: str, pools: dict[str, int | None], node: kfd.Node | None
) -> list[MachineFact]:
    """Return what only an integrated GPU has: how much it may borrow, and can really use."""
    vram, gtt = pools["memory_total"], pools["gtt_total"]
    if not is_integrated(vram, gtt, node.gfx if node else None):
        return []
    source = f"{drm.ROOT}: it borrows far more than it has"
    found = [facts.known(f"{prefix}.is_unified", True, source=kfd.ROOT if node else source)]
    pages = whole(host.read_text(_TTM))
    if pages is not None and 0 < pages < 1 << 40:
        limit = pages * _TTM_PAGE
        found.append(facts.known(f"{prefix}.gtt_limit", limit, source=_TTM, unit="bytes"))
        gtt = limit if gtt is None else min(gtt, limit)
    usable = usable_bytes(vram, gtt, kib_line(host.read_text(MEMINFO), "MemTotal"))
    if usable is not None:
        how = "own and borrowed memory, at most the computer's less 2 GiB"
        found.append(facts.known(f"{prefix}.memory_usable", usable, source=how, unit="bytes"))
    return found


def _bus(prefix: str, node: kfd.Node | None, told: amd_smi.Card | None) -> list[MachineFact]:
    found = []
    bits = (node.bus_bits if node else None) or (told.bus_bits if told else None)
    if bits:
        found.append(facts.known(f"{prefix}.memory_bus_width", bits, source=kfd.ROOT, unit="bits"))
    if node is not None and node.memory_mhz:
        # the clock of one of several rates: what it means in bytes depends on the memory's type
        found.append(
            facts.known(f"{prefix}.memory_base_clock", node.memory_mhz, source=kfd.ROOT, unit="MHz")
        )
    if told is not None and told.bandwidth:
        found.append(
            facts.known(f"{prefix}.bandwidth", told.bandwidth, source="amd-smi", unit="bytes/s")
        )
    return found


def _free(host: Host, name: str, prefix: str, source: str) -> MachineFact:
    total = whole(first_line(host, name, "mem_info_vram_total"))
    used = whole(first_line(host, name, "mem_info_vram_used"))
    path, where = f"{prefix}.memory_free", f"{source}/mem_info_vram_total, _used"
    if total is None or used is None or not 0 <= used <= total:
        reason = "the driver does not show what is used"
        return facts.missing(path, State.UNSUPPORTED, source=where, reason=reason, unit="bytes")
    return facts.known(path, total - used, source=where, unit="bytes")


def _ask_tool(host: Host) -> tuple[amd_smi.Card, ...]:
    """Return what AMD's tools say; one that hangs is the only one asked."""
    for name, words, parse in (
        ("amd-smi", amd_smi.STATIC, amd_smi.parse_static),
        ("rocm-smi", amd_smi.MEMINFO, amd_smi.parse_meminfo),
    ):
        program = host.which(name) or f"/opt/rocm/bin/{name}"
        if not host.is_file(program) and host.which(name) is None:
            continue
        answer = host.run((program, *words), timeout_s=2.0)
        found = parse(answer.stdout)
        if found or answer.state is State.TIMEOUT:
            return found
    return ()


def _told(
    host: Host, cards: tuple[amd_smi.Card, ...], name: str, index: int
) -> amd_smi.Card | None:
    """Return the tool's card by its PCI address, or by order when it tells none."""
    address = host.real_path(f"{drm.ROOT}/{name}/device").rpartition("/")[2]
    by_address = next((card for card in cards if card.address and card.address == address), None)
    if by_address is not None or any(card.address for card in cards):
        return by_address
    return cards[index] if index < len(cards) else None


PROBE = Probe("AMD", read)
