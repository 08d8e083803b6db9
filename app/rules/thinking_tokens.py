"""Most of what the model writes is a thought that is not shown.

What: thinking models write hundreds of tokens before the answer; the rate is normal, the wait long.
Evidence: a short answer with far more tokens generated than shown.
Arithmetic: generated over shown tokens, above 3, from 300 on.
Fix: thinking off, or less of it. It costs quality on hard questions.
Proof: the generated count is near the shown one.
Sources: advice.md part 3 row "Thinking tokens"; users.md row 19.
"""

from app.core import units
from app.core.evidence import Evidence, TextCheck
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import seen

_RATIO = 3
_FEWEST = 300


def check(evidence: Evidence) -> Finding | None:
    """Find an answer that is mostly hidden."""
    answer = next((one for one in evidence.text_checks if _is_hidden(one)), None)
    if answer is None:
        return None
    is_ollama = seen.runtime(evidence) == "ollama"
    counts = f"{units.count(answer.n_generated)} tokens generated, {units.count(answer.n_shown)}"
    return Finding(
        cause=f"The model thinks before it answers: {counts} shown. The rate may be normal.",
        cites=(Cite(f"{counts} shown", source=answer.source or "text check"),),
        fix=Fix(
            "Switch thinking off, or set it to little, for questions that do not need it.",
            "/set nothink" if is_ollama else "--reasoning off",
        ),
        proof="The number of generated tokens is near the number shown.",
        certainty=Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "the answers show most of what was generated"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    is_counted = any(one.n_generated is not None for one in evidence.text_checks)
    return "" if is_counted else "the tokens of an answer were not counted"


def _is_hidden(answer: TextCheck) -> bool:
    if answer.n_generated is None or answer.n_shown is None or answer.n_generated < _FEWEST:
        return False
    return answer.n_generated > _RATIO * answer.n_shown


RULE = Rule(
    id="thinking-tokens",
    title="The model thinks before it answers",
    check=check,
    silent=silent,
    needs=needs,
)
