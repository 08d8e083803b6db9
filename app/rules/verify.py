"""Judges a second run: whether the change that it tried is proven."""

from app.core import proof
from app.core.evidence import Evidence
from app.core.proof import Proof
from app.core.rule import Diagnosis
from app.rules import judge, tried


def proof_of(evidence: Evidence, diagnosis: Diagnosis | None = None) -> Proof | None:
    """Return what the second run of the evidence proves, None when there was none.

    diagnosis is the judge's answer on the evidence, None = it is not known yet.
    """
    again, second = evidence.again, evidence.second()
    if again is None or second is None:
        return None
    found = diagnosis or judge.diagnose(evidence)
    findings = (found.verdict, *found.also)
    option = tried.tried(evidence)
    fixed = next((f for f in findings if f is not None and f.rule_id == again.rule_id), None)
    what = option or fixed
    return proof.prove(evidence, what, judge.diagnose(second)) if what is not None else None
