"""vLLM runs in eager mode: without the prepared graphs each token costs more time.

What: --enforce-eager was set, so no graphs are captured; one user feels it most.
Evidence: enforce_eager=True in the line of the start.
Arithmetic: none; the size is a measurement.
Fix: remove the flag. Not where capturing the graphs failed before.
Proof: lines about captured graphs, and a higher rate.
Sources: advice.md part 3 row "vLLM: eager mode"; vLLM's engine arguments.
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import seen


def check(evidence: Evidence) -> Finding | None:
    """Find eager mode in the start's line."""
    line = evidence.log.last(Fact.VLLM_EAGER) if evidence.log else None
    if line is None or line.word("state") != "True":
        return None
    return Finding(
        cause="vLLM runs in eager mode, without prepared graphs. For one user that is slower.",
        cites=(seen.cite(line),),
        fix=Fix(
            "Remove --enforce-eager. The start takes longer, and some memory. Put it back only if "
            "the start then fails."
        ),
        proof="The start says that graphs were captured, and the rate is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    line = evidence.log.last(Fact.VLLM_EAGER) if evidence.log else None
    return "vLLM prepares graphs" if line is not None else ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of a start"


RULE = Rule(
    id="vllm-eager",
    title="vLLM runs in eager mode",
    check=check,
    silent=silent,
    needs=needs,
)
