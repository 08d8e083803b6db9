"""The file's tokenizer lacks a key, so the text is cut into wrong tokens.

What: conversions from before May 2024 lack the pre-tokenizer's name; llama.cpp guesses one.
Evidence: the program's own warning "GENERATION QUALITY WILL BE DEGRADED".
Arithmetic: none.
Fix: a newer conversion of the same model. Proof: the line is gone.
Sources: llama-vocab.cpp of llama.cpp, build 11434; advice.md part 3 row "Tokenizer keys missing".
"""

from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Finding, Fix, Rule
from app.rules import seen

_WORDS = "QUALITY WILL BE DEGRADED"


def check(evidence: Evidence) -> Finding | None:
    """Find the program's warning about the tokenizer."""
    line = _warning(evidence)
    if line is None:
        return None
    return Finding(
        cause="The file does not name its pre-tokenizer, so the program guesses how to cut text "
        "into tokens. Answers may be wrong.",
        cites=(seen.cite(line),),
        fix=Fix("Get a newer GGUF of the same model: its conversion names the pre-tokenizer."),
        proof="The line is gone.",
    )


def silent(_evidence: Evidence) -> str:
    """Say nothing: the program warns by itself."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of a load"


def _warning(evidence: Evidence) -> LogEvent | None:
    lines = evidence.log.all(Fact.QUALITY_WARNING) if evidence.log else ()
    return next((line for line in lines if _WORDS in line.text), None)


RULE = Rule(
    id="tokenizer-keys-missing",
    title="The tokenizer lacks a key",
    check=check,
    silent=silent,
    needs=needs,
)
