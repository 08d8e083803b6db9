"""A container's memory limit at this moment: what counts against it, and how often it was hit."""

from dataclasses import dataclass

from app.core.host import Host
from app.probes import cgroups
from app.probes.text import table, whole


@dataclass(frozen=True, slots=True)
class LimitReading:
    """The limit and its use in bytes; hits counts from the start of the group."""

    limit_bytes: int
    used_bytes: int | None
    hits: int | None


class LimitMeter:
    """Finds the lowest limit once, and reads its files each time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        found = cgroups.memory_limit(host) if host.platform() == "linux" else None
        self._folder = found.source.rpartition("/")[0] if found else ""

    def read(self) -> LimitReading | None:
        """Return the limit as it is now, None when there is none."""
        if not self._folder:
            return None
        found = cgroups.limit_in(self._host, self._folder)
        return (
            None
            if found is None
            else LimitReading(found.limit_bytes, found.used_bytes, self._hits())
        )

    def _hits(self) -> int | None:
        """Return how often the limit was reached: version 2 counts in a table, 1 in a file."""
        events = table(self._host.read_text(f"{self._folder}/memory.events"), " ")
        found = whole(events.get("max"))
        return (
            whole(self._host.read_text(f"{self._folder}/memory.failcnt"))
            if found is None
            else found
        )
