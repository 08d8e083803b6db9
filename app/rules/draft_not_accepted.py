"""Speculative decoding brings nothing: few of the tokens that are guessed ahead are accepted.

What: a small model guesses some tokens, the large one checks them in one batch. Each wrong guess
costs its drafting and its place in the batch.
Evidence: the acceptance of a request, below a half; best a pair of rates with and without.
Arithmetic: accepted / drafted.
Fix: fewer tokens at once where many are drafted, else switched off; measured against no draft.
Proof: a higher rate; the acceptance line says more, or is gone.
Sources: advice.md claim 81 and part 3 row "Speculation with low acceptance"; llama.cpp pull
request 10455; users.md row 22.
"""

from app.core import units
from app.core.bench import Test
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import rates, seen

_LEAST = 0.5
_FEW = 4  # tokens at once; below that switching off is the next step


def check(evidence: Evidence) -> Finding | None:
    """Find a low share of accepted guesses."""
    line = _last(evidence)
    if line is None or line.number("rate") >= _LEAST or _is_faster(evidence):
        return None
    longest = evidence.log.last(Fact.DRAFT_MAX) if evidence.log else None
    return Finding(
        cause=f"Speculative decoding brings little: only {units.percent(line.number('rate'), 0)} "
        "of the tokens that are guessed ahead are accepted, and each wrong one costs time.",
        cites=tuple(seen.cite(event) for event in (line, longest) if event is not None),
        fix=_fix(evidence, longest),
        proof="The rate is higher than with this setting, by intervals that do not touch.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    line = _last(evidence)
    if line is None:
        return ""
    if _is_faster(evidence):
        return "it is faster with it than without, by what was measured"
    return f"{units.percent(line.number('rate'), 0)} of the guessed tokens were accepted"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of requests"


def _is_faster(evidence: Evidence) -> bool:
    """Tell whether it was measured with and without, and is the faster one all the same."""
    return any(
        slow.setting("draft") == "none" and fast.setting("draft") not in (None, "none")
        for fast, slow in rates.pairs(evidence, Test.GENERATION)
    )


def _last(evidence: Evidence) -> LogEvent | None:
    lines = evidence.log.all(Fact.DRAFT_ACCEPTANCE) if evidence.log else ()
    return lines[-1] if lines else None


def _fix(evidence: Evidence, longest: LogEvent | None) -> Fix:
    is_ollama = seen.runtime(evidence) == "ollama"
    if longest is not None and longest.whole("n") > _FEW:
        few = f"PARAMETER draft_num_predict {_FEW}" if is_ollama else f"--spec-draft-n-max {_FEW}"
        return Fix(
            f"Guess fewer tokens at once: {_FEW} to 6 instead of {longest.whole('n')}. Measure it "
            "against no draft at all, and keep the faster one.",
            few,
        )
    return Fix(
        "Switch it off, and measure both with the same prompts. Keep the faster one.",
        "PARAMETER draft_num_predict 0" if is_ollama else "--spec-type none",
    )


RULE = Rule(
    id="draft-not-accepted",
    title="Guessing ahead brings nothing",
    check=check,
    silent=silent,
    needs=needs,
)
