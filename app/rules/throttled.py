"""The GPU was held down by heat or by its power supply while it was measured.

What: past a temperature, or when the supply gives too little, clocks fall, and the rate with them.
Evidence: a thermal reason in at least three samples, a power brake in three of ten, or a memory
clock that fell. An active power limit alone is normal under load and does not slow generation by
itself.
Arithmetic: samples with a thermal reason; memory clock over the highest before, while it worked.
Fix: cooling: dust, air, fan curve; or the card's own power cables. Proof: no reason is told, clocks
flat, rate flat in a long run.
Sources: hardware.md section 3 (clock event bits 0x20, 0x40, 0x80); advice.md claim 91; users.md
row 21.
"""

from app.core import units
from app.core.evidence import Evidence, GpuWatch
from app.core.rule import Certainty, Cite, Finding, Fix, Rule

FEWEST_SAMPLES = 3
LOWEST_CLOCK = 0.9


def is_throttled(evidence: Evidence) -> bool:
    """Tell whether heat disturbed the rates, so that nothing may rest on them."""
    return bool(_cites(evidence))


def check(evidence: Evidence) -> Finding | None:
    """Find a GPU that heat held down."""
    cites = _cites(evidence)
    if not cites:
        return None
    watch = evidence.gpu_watch
    assert watch is not None  # nothing is cited without it
    if _is_braked(watch):
        return _braked(cites)
    has_reason = (watch.n_thermal or 0) >= FEWEST_SAMPLES
    return Finding(
        cause="The GPU was held down while it was measured"
        + (", by heat: its driver says so." if has_reason else ": its memory clock fell."),
        cites=cites,
        fix=Fix(
            "Cool it: clean out dust, give it air, raise the fan curve. Then measure again, for "
            "longer than it took to get slow."
        ),
        proof="No thermal reason is reported, and clocks and rate stay flat in a long run.",
        certainty=Certainty.PROVEN if has_reason else Certainty.LIKELY,
    )


def _is_braked(watch: GpuWatch) -> bool:
    return any(reason.startswith("power supply") for reason in watch.reasons)


def _braked(cites: tuple[Cite, ...]) -> Finding:
    return Finding(
        cause="The GPU was held down while it was measured, by its power supply: the driver says "
        "that the power that reaches the card is not enough.",
        cites=cites,
        fix=Fix(
            "Switch the computer off and look at the card's power cables: all of them plugged in, "
            "to the end, one cable for each socket. A laptop needs its own power supply. Then "
            "measure again."
        ),
        proof="No such reason is reported, and clocks and rate stay flat in a long run.",
        title="The power supply held the GPU down",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    watch = evidence.gpu_watch
    if watch is not None and watch.is_capped:
        return "only the power limit was active, which is normal under load"
    return "no thermal reason was reported and the memory clock did not fall"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.gpu_watch is not None else "the GPU was not watched while it computed"


def _cites(evidence: Evidence) -> tuple[Cite, ...]:
    watch = evidence.gpu_watch
    if watch is None:
        return ()
    found = [f"clocks held down by: {text}" for text in watch.reasons if _is_braked(watch)]
    if (watch.n_thermal or 0) >= FEWEST_SAMPLES:
        found.append(f"thermal reason in {watch.n_thermal} of {watch.n_samples} samples")
    if watch.memory_clock_min is not None and watch.memory_clock_min < LOWEST_CLOCK:
        found.append(f"memory clock down to {units.percent(watch.memory_clock_min, 0)}")
    return tuple(Cite(text, source=watch.source or "GPU watch") for text in found)


RULE = Rule(
    id="throttled",
    title="Heat held the GPU down",
    check=check,
    silent=silent,
    needs=needs,
)
