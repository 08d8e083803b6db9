"""Looks for the logs that runtimes keep on this computer; meant to run in a Job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.cancel import Cancel
from app.work.jobs import Progress

if TYPE_CHECKING:
    from app.runtimes.log_places import FoundLogs


def look_for_logs(cancel: Cancel, _progress: Progress) -> FoundLogs:
    """Return the logs on the real computer."""
    from app.probes.host import RealHost  # the window starts without asking the machine
    from app.runtimes.log_places import find_logs

    return find_logs(RealHost(), cancel)
