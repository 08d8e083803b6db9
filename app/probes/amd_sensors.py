"""Clocks, heat, power and use of one AMD card, from sysfs and its hwmon folder."""

import re

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.probes import drm
from app.probes.text import whole

# [ \t] and not \s: a text of empty lines would be tried from each of them to its end
_LEVEL = re.compile(
    r"^[ \t]*[0-9S]{1,2}:[ \t]*([0-9]{1,5})[ \t]*Mhz[ \t]*(\*?)", re.IGNORECASE | re.MULTILINE
)
_HOTTEST = 150_000  # milli-degrees; sensors that sleep say 0 or 255000


def read(host: Host, name: str, prefix: str) -> list[MachineFact]:
    """Return what the card tells now; a card that sleeps answers none of it."""
    device = f"{drm.ROOT}/{name}/device"
    found = []
    for path, file in (("memory_clock", "pp_dpm_mclk"), ("clock", "pp_dpm_sclk")):
        now, most = levels(host.read_text(f"{device}/{file}") or "")
        source = f"{device}/{file}"
        if now is not None:
            found.append(facts.known(f"{prefix}.{path}", now, source=source, unit="MHz"))
        if most is not None:
            found.append(facts.known(f"{prefix}.{path}_max", most, source=source, unit="MHz"))
    for path, file in (("busy", "gpu_busy_percent"), ("memory_busy", "mem_busy_percent")):
        busy = whole(host.read_text(f"{device}/{file}"))
        if busy is not None and 0 <= busy <= 100:
            source = f"{device}/{file}"
            found.append(facts.known(f"{prefix}.{path}", busy, source=source, unit="%"))
    for hwmon in host.list_dir(f"{device}/hwmon")[:1]:
        found.extend(_hwmon(host, f"{device}/hwmon/{hwmon}", prefix))
    return found


def levels(text: str) -> tuple[int | None, int | None]:
    """Return the clock now (the line with a star) and the highest, in MHz, of a pp_dpm file."""
    found = [(int(mhz), star) for mhz, star in _LEVEL.findall(text)]
    now = next((mhz for mhz, star in found if star), None)
    return now, max((mhz for mhz, _ in found), default=None)


def _hwmon(host: Host, folder: str, prefix: str) -> list[MachineFact]:
    found = []
    for path, file in (
        ("temperature", "temp1_input"),
        ("temperature_junction", "temp2_input"),
        ("temperature_memory", "temp3_input"),
    ):
        value = whole(host.read_text(f"{folder}/{file}"))
        if value is not None and 0 < value < _HOTTEST:
            source = f"{folder}/{file}"
            found.append(facts.known(f"{prefix}.{path}", value / 1000, source=source, unit="°C"))
    for path, files in (
        ("power", ("power1_average", "power1_input")),
        ("power_limit", ("power1_cap",)),
        ("power_default", ("power1_cap_default",)),
    ):
        for file in files:
            value = whole(host.read_text(f"{folder}/{file}"))
            if value is not None and 0 < value < 5_000_000_000:  # microwatt
                watts = value / 1_000_000
                source = f"{folder}/{file}"
                found.append(facts.known(f"{prefix}.{path}", watts, source=source, unit="W"))
                break
    return found
