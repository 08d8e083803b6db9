"""The GPU's power limit is set below the maker's, and it was reached while it was measured.

What: a lower limit lowers the clocks under load. Prompts slow down with it; writing hardly does,
since it waits for memory.
Evidence: the limit in force below the default, and the card at the limit while it worked. A limit
that is reached at its default is normal.
Arithmetic: limit in force over default, below 0.95.
Fix: the default limit. Proof: the limit is the default, and the prompt's rate is higher.
Sources: hardware.md section 3 (bit 0x4: a finding only if the limit was lowered below default;
nvmlDeviceGetEnforcedPowerLimit, nvmlDeviceGetPowerManagementDefaultLimit).
"""

from app.core import units
from app.core.evidence import Evidence, GpuWatch
from app.core.rule import Certainty, Cite, Finding, Fix, Rule

_LOWERED = 0.95
_AT_LIMIT = 0.98  # of it, where the driver gives no reasons


def check(evidence: Evidence) -> Finding | None:
    """Find a limit that somebody lowered and that slowed the card."""
    watch = evidence.gpu_watch
    share = _share(watch)
    if watch is None or share is None or share >= _LOWERED or not _is_reached(watch):
        return None
    limit, default = watch.power_limit_w or 0.0, watch.power_default_w or 0.0
    return Finding(
        cause=f"{watch.name or 'The GPU'} may use {limit:.0f} W of the {default:.0f} W that its "
        "maker set, and ran into that limit. Prompts are slower by it; writing hardly is.",
        cites=(
            Cite(
                f"power limit {limit:.0f} W, default {default:.0f} W "
                f"({units.percent(share, 0)}), reached while it worked",
                source=watch.source or "GPU watch",
            ),
        ),
        fix=Fix(
            "If it was not lowered on purpose (noise, heat), set the default again, as an "
            "administrator or in the program that lowered it.",
            f"nvidia-smi -i {watch.index or 0} -pl {default:.0f}"
            if watch.is_capped is not None  # only NVIDIA's library gives reasons
            else "",
        ),
        proof="The limit in force is the default, and the prompt's rate is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    share = _share(evidence.gpu_watch)
    if share is not None and share >= _LOWERED:
        return "the power limit is the maker's"
    return "the power limit was not reached"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.gpu_watch is None:
        return "the GPU was not watched while it computed"
    return "" if _share(evidence.gpu_watch) is not None else "the card does not tell its limits"


def _is_reached(watch: GpuWatch) -> bool:
    if watch.is_capped is not None:
        return watch.is_capped
    return (watch.power_max_w or 0.0) >= _AT_LIMIT * (watch.power_limit_w or 1.0)


def _share(watch: GpuWatch | None) -> float | None:
    """Return the limit in force over the default, None when one of them is not told."""
    if watch is None or not watch.power_limit_w or not watch.power_default_w:
        return None
    return watch.power_limit_w / watch.power_default_w


RULE = Rule(
    id="power-limit-lowered",
    title="The GPU's power limit was lowered",
    check=check,
    silent=silent,
    needs=needs,
)
