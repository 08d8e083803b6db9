"""How busy each kind of cores is: shares between two readings of the CPUs' times."""

import psutil

from app.core.host import Host
from app.probes.text import cpu_list

_CLASSES = (("Performance", "cpu_core"), ("Efficiency", "cpu_atom"), ("Low power", "cpu_lowpower"))


class ClassMeter:
    """Knows which CPUs are of which kind; of a CPU whose cores are all alike it says nothing."""

    def __init__(self, host: Host) -> None:
        linux = host.platform() == "linux"
        found = tuple(
            (name, cpu_list(host.read_text(f"/sys/devices/{folder}/cpus") if linux else None))
            for name, folder in _CLASSES
        )
        kinds = tuple((name, cpus) for name, cpus in found if cpus)
        self._kinds = kinds if len(kinds) > 1 else ()
        self._before: list[tuple[float, float]] = []

    def read(self) -> tuple[tuple[str, float], ...]:
        """Return the share in use of each kind since the reading before; empty at the first."""
        if not self._kinds:
            return ()
        now = [(sum(times[:8]), times.idle) for times in psutil.cpu_times(percpu=True)]
        before, self._before = self._before, now
        return shares(self._kinds, before, now) if len(before) == len(now) else ()


def shares(
    kinds: tuple[tuple[str, tuple[int, ...]], ...],
    before: list[tuple[float, float]],
    now: list[tuple[float, float]],
) -> tuple[tuple[str, float], ...]:
    """Return the share in use by kind from (all seconds, idle seconds) of each CPU."""
    found = []
    for name, cpus in kinds:
        own = [cpu for cpu in cpus if cpu < len(now)]
        total = sum(now[cpu][0] - before[cpu][0] for cpu in own)
        idle = sum(now[cpu][1] - before[cpu][1] for cpu in own)
        if total > 0:
            found.append((name, min(1.0, max(0.0, 1 - idle / total))))
    return tuple(found)
