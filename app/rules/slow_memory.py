"""The system memory runs with half of its channels, or below its rated speed.

What: what the host holds is read at the memory's bandwidth: one module halves it, a missing
XMP or EXPO profile takes a third.
Evidence: the modules' channels and speeds, and weights on the host.
Arithmetic: channels x MT/s x 8 bytes; configured over rated speed.
Fix: a second module; the profile in the firmware setup. It costs money, or stability.
Proof: the configured speed, and the bandwidth probe.
Sources: advice.md claims 40 and 41; hardware.md section 2; memory.tsv.
"""

from app.core.evidence import Evidence
from app.core.machine import Machine
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import seen

_LOWEST_SHARE = 0.95
_PATHS = ("memory.channels", "memory.speed", "memory.speed_rated", "memory.modules")


def check(evidence: Evidence) -> Finding | None:
    """Find memory below what it can do, under weights on the host."""
    machine = evidence.machine
    if machine is None or not seen.host_computes(evidence):
        return None
    channels = machine.number("memory.channels")
    now, rated = machine.number("memory.speed"), machine.number("memory.speed_rated")
    is_single = channels == 1 and _is_in_slots(machine)
    is_slow = now is not None and rated is not None and now < _LOWEST_SHARE * rated
    if not is_single and not is_slow:
        return None
    if is_single:
        cause = "The memory has one channel in use, so it delivers half of what two would."
        fix = "Add a second module of the same kind, in the slot of the other channel."
    else:
        cause = f"The memory runs at {now} MT/s and is made for {rated}."
        fix = "Switch its profile (XMP or EXPO) on in the firmware setup, then test that it holds."
    return Finding(
        cause=f"{cause} The part of the weights in system memory is read that much more slowly.",
        cites=seen.fact_cites(evidence, *_PATHS),
        fix=Fix(fix),
        proof="The configured speed and the measured bandwidth are higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not seen.host_computes(evidence):
        return "the processor reads no weights"
    return "the memory uses its channels and its rated speed"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    machine = evidence.machine
    if machine is None or all(machine.number(path) is None for path in _PATHS[:3]):
        return "the memory modules were not read"
    return seen.placement_missing(evidence)


def _is_in_slots(machine: Machine) -> bool:
    """Tell whether the memory is in modules: soldered memory cannot be added to."""
    modules = " ".join(machine.words("memory.modules") or ()).upper()
    return bool(modules) and "LPDDR" not in modules


RULE = Rule(
    id="slow-memory",
    title="The system memory is slower than it could be",
    check=check,
    silent=silent,
    needs=needs,
)
