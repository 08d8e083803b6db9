"""CUDA's unified memory is switched on, so a load that is too large runs, slowly.

What: the variable lets the card's allocations spill into system memory instead of failing.
Evidence: the variable in the runtime's environment, and a device that holds more than it has.
Arithmetic: sum of a device's buffers against its total.
Fix: unset it, and let the program place what fits. An integrated AMD GPU needs it: no fault there.
Proof: the sum is below the total.
Sources: advice.md claim 100; docs/build.md of llama.cpp, build 11434.
"""

from app.core.evidence import Evidence
from app.core.rule import Cite, Finding, Fix, Rule
from app.rules import over_commit, seen
from app.rules.one_layer_too_many import UNIFIED


def check(evidence: Evidence) -> Finding | None:
    """Find the variable beside a device that holds too much."""
    value = dict(evidence.variables).get(UNIFIED)
    if not value or value == "0" or seen.shares_system_memory(evidence):
        return None
    over = over_commit.check(evidence)
    if over is None:
        return None
    return Finding(
        cause=f"The variable {UNIFIED} is set: it hides that the load does not fit. {over.cause}",
        cites=(Cite(f"{UNIFIED} = {value}", source="environment"), *over.cites),
        fix=Fix(
            "Unset the variable, then let the program place what fits: remove -ngl and --fit off. "
            "The load may fail at first; then use a shorter context.",
            f"unset {UNIFIED}",
        ),
        proof=over.proof,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if UNIFIED in dict(evidence.variables):
        return f"the variable is set, but {over_commit.silent(evidence)}"
    return "the variable is not set"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.variables else "the environment of the runtime was not read"


RULE = Rule(
    id="unified-memory-set",
    title="Unified memory hides an overfull card",
    check=check,
    silent=silent,
    needs=needs,
)
