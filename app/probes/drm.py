"""Graphics cards as Linux shows them in sysfs, by maker."""

from app.core.host import Host
from app.probes.text import table

ROOT = "/sys/class/drm"
# one line a board: device, revision, name; the second comes with AMD's own packages
_AMD_NAMES = ("/usr/share/libdrm/amdgpu.ids", "/opt/amdgpu/share/libdrm/amdgpu.ids")


def cards(host: Host, vendor: str) -> tuple[str, ...]:
    """Return the names of a maker's cards, for example card1; vendor is the PCI number."""
    return tuple(name for name in all_cards(host) if first_line(host, name, "vendor") == vendor)


def all_cards(host: Host) -> tuple[str, ...]:
    """Return the names of all cards; card0-HDMI-A-1 is a socket and no card."""
    names = host.list_dir(ROOT)
    return tuple(name for name in names if name.startswith("card") and name[4:].isdecimal())


def none_reason(host: Host, maker: str) -> str:
    """Say why there is no card of a maker."""
    return f"no {maker} card" if all_cards(host) else f"no graphics card in {ROOT}"


def amd_name(text: str, device: str, revision: str) -> str:
    """Return libdrm's name for 0x744c with revision 0xc8, "" when its list has none."""
    numbers = [word.removeprefix("0x").upper() for word in (device, revision)]
    for line in text.splitlines()[:20_000] if all(numbers) else ():
        parts = [part.strip() for part in line.split(",", 2)]
        if len(parts) == 3 and parts[:2] == numbers and not line.startswith("#"):
            return parts[2][:200]
    return ""


def first_line(host: Host, name: str, file: str) -> str | None:
    """Return the first line of a file of the card, None when it cannot be read."""
    lines = (host.read_text(f"{ROOT}/{name}/device/{file}") or "").splitlines()
    return lines[0].strip() if lines else None


def title(host: Host, name: str, maker: str) -> str:
    """Return the maker's name, or what the PCI numbers tell; the runtime's name is better."""
    product = first_line(host, name, "product_name")
    if product:
        return product[:200]
    if maker == "AMD":
        device, revision = (first_line(host, name, file) or "" for file in ("device", "revision"))
        for path in _AMD_NAMES:
            known = amd_name(host.read_text(path) or "", device, revision)
            if known:
                return known
    numbers = table(host.read_text(f"{ROOT}/{name}/device/uevent"), "=")
    pci = numbers.get("PCI_ID") or first_line(host, name, "device") or ""
    return f"{maker} GPU {pci}".strip()[:60]
