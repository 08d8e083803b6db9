"""Clock and heat of the processor at this moment, and how often heat held it down (Linux)."""

from dataclasses import dataclass

from app.core.host import Host
from app.probes import power
from app.probes.text import whole

_CLOCK = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq"
_MOST_CLOCKS = 8  # each is a question to the hardware


@dataclass(frozen=True, slots=True)
class HeatReading:
    """None = not told; throttles counts from the start of the system."""

    clock_mhz: int | None = None
    temperature: float | None = None  # °C
    throttles: int | None = None


class HeatMeter:
    """Finds once what there is to read; a virtual machine tells none of it."""

    def __init__(self, host: Host) -> None:
        self._host = host
        is_linux = host.platform() == "linux"
        files = [_CLOCK.format(number) for number in range(_MOST_CLOCKS)] if is_linux else []
        self._clocks = tuple(file for file in files if host.is_file(file))
        self._zone = power.cpu_zone(host) if is_linux else None
        self._counts = is_linux and host.is_file(power.THROTTLE)

    def read(self) -> HeatReading:
        """Return the highest clock, the temperature and the count."""
        clocks = [whole(self._host.read_text(file)) for file in self._clocks]
        khz = max((clock for clock in clocks if clock is not None and clock > 0), default=None)
        heat = power.zone_degrees(self._host, self._zone) if self._zone is not None else None
        count = whole(self._host.read_text(power.THROTTLE)) if self._counts else None
        return HeatReading(khz // 1000 if khz is not None else None, heat, count)
