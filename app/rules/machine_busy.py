"""The machine was busy: other programs computed while the rates were measured.

What: a rate taken on a machine in use is lower and spreads wider than the model's own.
Evidence: processor use of other programs, sampled while the measurement ran, or the note that
the benchmark runner left on a run.
Arithmetic: other programs' cores over all cores, above 10 % (advice.md part 3, "Busy").
Fix: close what computes, measure again. Proof: the note is gone and the interval is narrower.
Sources: advice.md part 3; slowdown.md section 4 (spread 5 to 20 % on desktops in use).
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.rule import Certainty, Cite, Finding, Fix, Rule

LARGEST_SHARE = 0.10
_RATED = (
    "Other programs were using the processor while the rates were measured, so the rates may be "
    "lower than this computer can do."
)
_WATCHED = (
    "Other programs were using the processor while the model was watched, so it may write slower "
    "than this computer can do."
)


def is_busy(evidence: Evidence) -> bool:
    """Tell whether the rates were disturbed, so that nothing may rest on them."""
    return bool(_cites(evidence))


def check(evidence: Evidence) -> Finding | None:
    """Find other programs at work during the measurement."""
    cites = _cites(evidence)
    if not cites:
        return None
    return Finding(
        cause=_RATED if evidence.runs else _WATCHED,
        cites=cites,
        fix=Fix("Close the programs that compute (browser, games, updates), then measure again."),
        proof="The second run has no such note and its interval is narrower."
        if evidence.runs
        else "Watched again, other programs use less than a tenth of the processor.",
        certainty=Certainty.PROVEN,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    share = others_share(evidence)
    if share is None:
        return "the benchmark runner found the machine quiet"
    return f"other programs used at most {units.percent(share, 0)} of the processor"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.runs or others_share(evidence) is not None:
        return ""
    return "processor use was not sampled, because nothing was measured"


def _cites(evidence: Evidence) -> tuple[Cite, ...]:
    share = others_share(evidence)
    found: list[Cite] = []
    if share is not None and share > LARGEST_SHARE and evidence.watch is not None:
        found.append(
            Cite(
                f"other programs used up to {units.percent(share, 0)} of the processor",
                source=evidence.watch.source,
            )
        )
    notes = dict.fromkeys(run.busy for run in evidence.runs if run.busy)
    found += [Cite(note, source="benchmark run") for note in notes]
    return tuple(found)


def others_share(evidence: Evidence) -> float | None:
    """Return the largest share of all cores that other programs used, None = not sampled."""
    watch = evidence.watch
    if watch is None or watch.other_cpu_max is None or not watch.cores:
        return None
    return watch.other_cpu_max / watch.cores


RULE = Rule(
    id="machine-busy",
    title="The machine was busy",
    check=check,
    silent=silent,
    needs=needs,
)
