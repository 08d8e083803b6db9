"""Memory ran out after the load, at a request: the load itself had fitted.

What: weights, cache and buffers are there when the program is ready; a larger prompt, a picture or
another program then takes the rest. The KV cache does not grow: it was allocated whole.
Evidence: the program was ready, and an error about memory comes after that.
Arithmetic: the bytes the line names, against the margin that the load left.
Fix: a margin: a smaller micro-batch, then a shorter context; other programs off the device.
Proof: the same request ends without the error.
Sources: advice.md claims 20 and 21, part 3 row "Load failed: memory"; users.md row 2.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Finding, Rule
from app.rules import command, load_failed, os_ceiling, seen

_MARGIN_MIB = 2048  # twice of what the fit leaves by itself


def check(evidence: Evidence) -> Finding | None:
    """Find memory that was refused after the program was ready."""
    line = later(evidence)
    if line is None or os_ceiling.check(evidence) is not None:
        return None
    n_bytes = line.values.get("n_bytes")
    size = f" {units.size(int(float(n_bytes)))} were asked for." if n_bytes is not None else ""
    return Finding(
        cause=f"The model loaded, and memory ran out at a request.{size} The load left too small a "
        "margin for it, or another program took the rest. The KV cache itself does not grow.",
        cites=(seen.cite(line),),
        fix=command.fix(
            evidence,
            f"Let the load leave a larger margin: -fitt {_MARGIN_MIB}, with nothing set by hand "
            "that stops the fit. Keep other programs off the device.",
            fit_target_mib=_MARGIN_MIB,
            ngl=None,
        ),
        proof="The same request ends without the error.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if later(evidence) is not None:
        return "a limit of the system explains it"
    return "no error about memory after the program was ready"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of requests"


def later(evidence: Evidence) -> LogEvent | None:
    """Return the first line that refuses memory after the program was ready."""
    if not load_failed.is_ready(evidence):
        return None
    ready = seen.ready_line(evidence)
    errors = (error for error in seen.events(evidence) if error.fact is Fact.ERROR_MEMORY)
    return next((error for error in errors if ready is None or error.line > ready), None)


RULE = Rule(
    id="out-of-memory-later",
    title="Memory ran out at a request",
    check=check,
    silent=silent,
    needs=needs,
)
