"""The judge: asks every rule in order; the first that matches names the fault."""

import functools
import logging
from dataclasses import replace

import app.rules as package
from app.core import plugins
from app.core.evidence import Evidence
from app.core.proof import TAKEN_BACK, is_taken_back
from app.core.rule import Certainty, Diagnosis, Finding, Fix, Rule, Ruled
from app.rules import machine_busy, order, throttled

_BUSY = "other programs were using the processor while it was measured"
_HOT = "heat held the GPU down while it was measured"
_log = logging.getLogger(__name__)


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Return all rules of this folder, in the order of order.py."""
    found = plugins.collect(package, "RULE", Rule)
    return tuple(sorted(found, key=lambda rule: (order.place(rule.id), rule.id)))


def diagnose(evidence: Evidence, chosen: tuple[Rule, ...] | None = None) -> Diagnosis:
    """Name the fault, the other findings, what is ruled out and what could not be checked.

    A finding that is not proven never becomes the verdict: it is listed as also possible.
    """
    found: list[Finding] = []
    ruled_out: list[Ruled] = []
    not_checked: list[Ruled] = []
    disturbed = _disturbed(evidence)
    for rule in rules() if chosen is None else chosen:
        answer = _ask(rule, evidence, disturbed)
        if isinstance(answer, Finding):
            found.append(_measured(evidence, answer))
        elif answer[0]:
            not_checked.append(Ruled(rule.id, rule.title, answer[0]))
        elif answer[1]:  # a fault of another runtime or use is not worth a line
            ruled_out.append(Ruled(rule.id, rule.title, answer[1]))
    verdict = next((f for f in found if f.certainty is not Certainty.NOT_PROVEN), None)
    also = tuple(finding for finding in found if finding is not verdict)
    near = order.near(verdict.rule_id if verdict is not None else "", evidence.symptom)
    return Diagnosis(verdict, also, _sorted(ruled_out, near), _sorted(not_checked, near))


def _measured(evidence: Evidence, finding: Finding) -> Finding:
    """Take a fix back that was tried here and got slower."""
    if not is_taken_back(evidence, finding.fix.change):
        return finding
    return replace(finding, fix=Fix(TAKEN_BACK))


def _sorted(rules_: list[Ruled], near: frozenset[str]) -> tuple[Ruled, ...]:
    """Mark the rules worth naming first, and put them first."""
    marked = [replace(ruled, is_near=ruled.rule_id in near) for ruled in rules_]
    return tuple(sorted(marked, key=lambda ruled: not ruled.is_near))


def _disturbed(evidence: Evidence) -> str:
    """Say why nothing may rest on the rates, "" when they count."""
    if machine_busy.is_busy(evidence):
        return _BUSY
    return _HOT if throttled.is_throttled(evidence) else ""


def _ask(rule: Rule, evidence: Evidence, disturbed: str) -> Finding | tuple[str, str]:
    """Return the finding, or what is missing to check the rule and why it does not hold."""
    if rule.rests_on_rate and disturbed:
        return disturbed, ""
    try:
        finding = rule.check(evidence)
        if finding is not None:
            return replace(finding, rule_id=rule.id, title=finding.title or rule.title)
        missing = rule.needs(evidence)
        return missing, "" if missing else rule.silent(evidence)
    except Exception as error:  # noqa: BLE001 - one broken rule must not spoil the others
        _log.warning("rule %s failed", rule.id, exc_info=error)
        return _failed(rule, error)


def _failed(rule: Rule, error: Exception) -> Finding:
    return Finding(
        cause=f"The check “{rule.title}” did not work: {type(error).__name__}: {error}. "
        "The other checks are not affected.",
        cites=(),
        fix=Fix("Export the report and send it to the makers of this program."),
        proof="",
        certainty=Certainty.NOT_PROVEN,
        rule_id=rule.id,
        title="This check failed",
    )
