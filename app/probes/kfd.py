"""What AMD's compute driver (KFD) says of its GPUs: the gfx name, memory bus and memory clock."""

import re
from dataclasses import dataclass

from app.core.host import Host
from app.probes.text import table, whole

ROOT = "/sys/class/kfd/kfd/topology/nodes"
_MAX_NODES = 64
_PRIVATE, _PUBLIC = 1, 2  # heap types of memory on the card


@dataclass(frozen=True, slots=True)
class Node:
    """A GPU as KFD knows it; None = not told."""

    gfx: str | None
    render_minor: int | None  # 128 is /dev/dri/renderD128
    bus_bits: int | None
    memory_mhz: int | None
    memory_bytes: int | None = None


def nodes(host: Host) -> tuple[Node, ...]:
    """Return the GPUs in the order of KFD; processors have no SIMD units and are left out."""
    found = []
    for name in sorted(host.list_dir(ROOT), key=lambda n: (len(n), n))[:_MAX_NODES]:
        lines = table(host.read_text(f"{ROOT}/{name}/properties"), " ")
        if not whole(lines.get("simd_count")):
            continue
        bus, clock, size = None, None, None
        for bank in host.list_dir(f"{ROOT}/{name}/mem_banks")[:8]:
            properties = table(host.read_text(f"{ROOT}/{name}/mem_banks/{bank}/properties"), " ")
            if whole(properties.get("heap_type")) in (_PRIVATE, _PUBLIC):
                bus = _positive(properties.get("width"))
                clock = _positive(properties.get("mem_clk_max"))
                size = whole(properties.get("size_in_bytes"))
                break
        minor = whole(lines.get("drm_render_minor"))
        gfx = gfx_name(lines.get("gfx_target_version"))
        found.append(Node(gfx, minor, bus, clock, size if size and 0 < size < 1 << 44 else None))
    return tuple(found)


def gfx_name(version: str | None) -> str | None:
    """Return gfx1151 for 110501: major, minor and stepping in two digits, the last in hex."""
    value = whole(version)
    if value is None or not 10_000 <= value < 1_000_000:
        return None
    return f"gfx{value // 10_000}{value // 100 % 100:x}{value % 100:x}"


def node_of(found: tuple[Node, ...], render: tuple[str, ...], index: int, n: int) -> Node | None:
    """Return the node of a card: by its renderD number, or by order when the counts agree."""
    minors = {int(m[1]) for name in render if (m := re.fullmatch(r"renderD([0-9]{1,4})", name))}
    by_minor = next((node for node in found if node.render_minor in minors), None)
    if by_minor is not None:
        return by_minor
    is_counted = len(found) == n and all(node.render_minor is None for node in found)
    return found[index] if is_counted else None


def _positive(text: str | None) -> int | None:
    value = whole(text)
    return value if value is not None and 0 < value < 1 << 20 else None
