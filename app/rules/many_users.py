"""Several requests at once want more context than there is, so they wait for each other.

What: all slots share one cache, or divide it; when it is full, requests are cut into small batches.
Evidence: the line "failed to find free space in the KV cache".
Arithmetic: slots times the context each may use, against the cells there are.
Fix: a larger context where memory is free, else fewer slots.
Proof: the line is gone, and the summed rate is higher.
Sources: advice.md claim 19 and part 3 row "Batch too small for many users"; server-context.cpp of
llama.cpp, build 11434.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find a cache that all requests together overfill."""
    line = evidence.log.last(Fact.KV_POOL_FULL) if evidence.log else None
    if line is None:
        return None
    story = seen.load(evidence)
    cells = story.n_ctx if story is not None else None
    size = f" of {units.count(cells)} tokens" if cells else ""
    return Finding(
        cause=f"All requests together need more than the context{size}: they wait for each other.",
        cites=(seen.cite(line),),
        fix=_fix(evidence, cells),
        proof="The line is gone, and all requests together write faster.",
        certainty=Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Say nothing: only several requests at once fill the context."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of requests"


def _fix(evidence: Evidence, cells: int | None) -> Fix:
    if not cells:
        return Fix("Use a larger context (-c) where memory is free, else fewer slots (-np).")
    return command.fix(
        evidence,
        f"Double the context, to {units.count(2 * cells)}, where memory is free. Else let fewer "
        "requests run at once (-np).",
        ctx=2 * cells,
    )


RULE = Rule(
    id="many-users",
    title="The requests need more context together",
    check=check,
    silent=silent,
    needs=needs,
)
