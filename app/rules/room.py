"""Whether more layers would fit on the devices of this machine, by calculation."""

from dataclasses import replace

from app.core import builds, host_memory, placement
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.request import LoadRequest
from app.core.units import MIB

# what llama.cpp's fit leaves free on each device (common/fit.cpp, build 11434: --fit-target)
MARGIN_BYTES = 1024 * MIB


def fits(evidence: Evidence, ngl: int) -> bool | None:
    """Tell whether this many layers fit beside the margin; None = cannot be calculated."""
    model, machine = evidence.model, evidence.machine
    if model is None or machine is None or not machine.devices:
        return None
    free = {device.id: device.free_bytes for device in machine.devices}
    if None in free.values():
        return None
    request = replace(evidence.request or LoadRequest(), ngl=ngl)
    try:
        prepared = placement.prepare(model)
        placed = placement.place(
            prepared, machine.devices, host_memory.host_of(machine), request,
            build=builds.of_evidence(evidence),
        )  # fmt: skip
    except UserError:
        return None
    return all(
        row.total_bytes + MARGIN_BYTES <= (free.get(row.buffer) or 0)
        for row in placed.rows
        if not row.is_host and row.total_bytes
    )
