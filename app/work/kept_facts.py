"""The machine with what is kept of it: the read rate that was measured, and what was pasted."""

from app.core.machine import Machine
from app.work import bandwidth_run
from app.work.pasted_store import PastedStore


def with_kept(machine: Machine) -> Machine:
    """Return this computer with all that is kept of it."""
    return bandwidth_run.with_kept(PastedStore().with_kept(machine))
