"""The processor was held down by heat while it computed its part of the model.

What: past a temperature the processor lowers its clock, and layers in system memory wait for it.
Evidence: the count of throttling by heat rose in at least three samples, and weights are computed
by the processor. A single rise is a short peak.
Arithmetic: samples in which the count rose, over all samples.
Fix: cooling; a laptop on a firm surface; fewer threads make less heat and often are no slower.
Proof: the count does not rise while it is measured, and the rate is flat in a long run.
Sources: Linux package_throttle_count (Documentation/admin-guide, x86 thermal); hardware.md section
7; users.md row 21.
"""

from app.core.evidence import Evidence
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import seen

_FEWEST_SAMPLES = 3


def check(evidence: Evidence) -> Finding | None:
    """Find a processor that heat held down while it had layers to compute."""
    watch = evidence.watch
    hot = watch.n_cpu_thermal if watch is not None else None
    if watch is None or hot is None or hot < _FEWEST_SAMPLES or _is_idle(evidence):
        return None
    return Finding(
        cause="The processor was held down by heat while the rates were measured, and it computes "
        "layers of this model.",
        cites=(
            Cite(
                f"the processor's count of throttling rose in {hot} of {watch.n_samples} samples",
                source="package_throttle_count",
            ),
        ),
        fix=Fix(
            "Cool it: clean out dust, give it air, put a laptop on a firm surface. Then measure "
            "again, for longer than it took to get slow."
        ),
        proof="The count does not rise while it is measured, and the rate stays flat.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    watch = evidence.watch
    if watch is not None and (watch.n_cpu_thermal or 0) >= _FEWEST_SAMPLES:
        return "all layers are on the device, so the processor has little to compute"
    return "heat did not hold the processor down"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.watch is None:
        return "the processor was not watched while it computed"
    if evidence.watch.n_cpu_thermal is None:
        return "this system does not count throttling by heat"
    return ""


def _is_idle(evidence: Evidence) -> bool:
    """Tell whether all layers are on devices."""
    story = seen.load(evidence)
    if story is None or not story.weights_on_device or story.offload_line is None:
        return False
    n, m = story.offload_line
    return n >= m


RULE = Rule(
    id="processor-throttled",
    title="Heat held the processor down",
    check=check,
    silent=silent,
    needs=needs,
)
