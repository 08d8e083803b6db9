"""It was measured on battery or with a saving power profile.

What: laptops lower clocks and power on battery; a saving profile does so on mains too.
Evidence: the power state beside a rate. Without a rate it is nobody's fault.
Arithmetic: none.
Fix: plug in, balanced or performance. Proof: the power state, and the rate measured again.
Sources: hardware.md section 7; advice.md part 3 row "Battery, efficiency mode"; users.md row 21.
"""

from app.core.evidence import Evidence
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import seen

_SAVING = ("power saver", "best power efficiency", "low-power", "low power", "quiet", "cool")


def check(evidence: Evidence) -> Finding | None:
    """Find a rate that was measured while power was saved."""
    machine = evidence.machine
    if machine is None or not evidence.runs:
        return None
    is_on_battery = machine.flag("power.is_mains") is False
    profile = (machine.text("power.profile") or "").lower()
    is_saving = any(profile.startswith(word) for word in _SAVING)
    if not is_on_battery and not is_saving:
        return None
    where = "on battery" if is_on_battery else f"with the power profile “{profile}”"
    return Finding(
        cause=f"The rates were measured {where}. Processor and GPU are then kept slow.",
        cites=seen.fact_cites(evidence, "power.is_mains", "power.battery", "power.profile"),
        fix=Fix("Plug it in, set the power profile to balanced or performance, and measure again."),
        proof="The power state says mains and no saving profile, and the rate is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not evidence.runs:
        return "nothing was measured while power was saved"
    return "no saving of power is reported"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.machine is not None else "the power state was not read"


RULE = Rule(
    id="power-saving",
    title="Measured while power was saved",
    check=check,
    silent=silent,
    needs=needs,
)
