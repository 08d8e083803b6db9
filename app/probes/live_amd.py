"""What the cards of the amdgpu driver do at this moment, from sysfs."""

from typing import Any

from app.core.host import Host
from app.core.live import GpuReading
from app.core.reading import Reading
from app.probes import amd_sensors, drm, pcie
from app.probes.text import whole

_AMD = "0x1002"
_MAX_GPUS = 4


class AmdMeter:
    """Reads the cards of the amdgpu driver."""

    def __init__(self, host: Host) -> None:
        self._host = host
        names = drm.cards(host, _AMD)[:_MAX_GPUS] if host.platform() == "linux" else ()
        self._names = {name: drm.title(host, name, "AMD") for name in names}

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of each card."""
        return tuple(self._card(name, title) for name, title in self._names.items())

    def _card(self, name: str, title: str) -> GpuReading:
        readings: dict[str, Reading[Any]] = {
            fact.path.removeprefix("x."): fact.reading
            for fact in amd_sensors.read(self._host, name, "x")
        }

        def value(path: str) -> Any:
            return readings[path].value if path in readings else None

        busy = value("busy")
        memory_busy = whole(drm.first_line(self._host, name, "mem_busy_percent"))
        link = pcie.link(self._host, f"{drm.ROOT}/{name}/device")
        return GpuReading(
            name=title,
            busy=busy / 100 if busy is not None else None,
            memory_used_bytes=whole(drm.first_line(self._host, name, "mem_info_vram_used")),
            memory_total_bytes=whole(drm.first_line(self._host, name, "mem_info_vram_total")),
            clock_mhz=value("clock"),
            memory_clock_mhz=value("memory_clock"),
            temperature=value("temperature"),
            power_w=value("power"),
            power_limit_w=value("power_limit"),
            memory_busy=memory_busy / 100 if memory_busy is not None else None,
            temperature_limit=self._heat_limit(name),
            power_default_w=value("power_default"),
            link_width=link.width,
            link_width_max=link.width_max,
            link_generation=link.generation,
            link_generation_max=link.generation_max,
            source=f"sysfs, {name} of amdgpu",
        )

    def _heat_limit(self, name: str) -> float | None:
        """Return where the sensor of the temperature that is shown turns critical, in °C."""
        folders = self._host.list_dir(f"{drm.ROOT}/{name}/device/hwmon")[:1]
        found = [whole(drm.first_line(self._host, name, f"hwmon/{f}/temp1_crit")) for f in folders]
        return found[0] / 1000 if found and found[0] is not None and found[0] > 0 else None
