"""The text is wrong only at a high temperature.

What: from about 1.2 on rare tokens are drawn often enough to lose the thread.
Evidence: an answer that cannot be read at the temperature in use, and one at 0 that can.
Arithmetic: none.
Fix: the model's recommended temperature, else 0.7. Proof: the answer at that setting.
Sources: advice.md part 3 row "Temperature" (fails at 0 too: not this).
"""

from app.core.evidence import Evidence, TextCheck
from app.core.rule import Certainty, Cite, Finding, Fix, Rule

_HIGH = 1.2
_USUAL = 0.7
_RECOMMENDED = "general.sampling.temp"


def check(evidence: Evidence) -> Finding | None:
    """Find text that only a high temperature spoils."""
    checks = evidence.text_checks
    bad = next((one for one in checks if not one.is_readable and _degrees(one) > _HIGH), None)
    good = next((one for one in checks if one.is_readable and _degrees(one) == 0), None)
    if bad is None or good is None:
        return None
    wanted = _recommended(evidence)
    return Finding(
        cause=f"The text is wrong at temperature {_degrees(bad):g} and right at 0: the temperature "
        "is too high for this model.",
        cites=tuple(
            Cite(f"temperature {_degrees(one):g}: {word}", source=one.source or "text check")
            for one, word in ((bad, "unreadable"), (good, "readable"))
        ),
        fix=Fix(f"Set the temperature to {wanted:g}.", f"--temp {wanted:g}"),
        proof="A short answer at that temperature can be read.",
        certainty=Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "the text does not depend on a high temperature"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    known = sum("temperature" in dict(one.settings) for one in evidence.text_checks)
    return "" if known >= 2 else "the text was not checked at two temperatures"


def _degrees(answer: TextCheck) -> float:
    """Return the temperature; checks are made at 0 unless they say otherwise."""
    text = dict(answer.settings).get("temperature", "0")
    try:
        return float(text)
    except ValueError:
        return 0.0


def _recommended(evidence: Evidence) -> float:
    value = evidence.model.keys.get(_RECOMMENDED) if evidence.model is not None else None
    return float(value) if isinstance(value, int | float) else _USUAL


RULE = Rule(
    id="temperature-too-high",
    title="The temperature is too high",
    check=check,
    silent=silent,
    needs=needs,
)
