"""Public problem reports as evidence: what the tool is given, and what it should answer."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from app.core import codec
from app.core.evidence import Evidence
from app.core.rule import Certainty, Diagnosis, Finding
from app.logs import scan
from app.rules import judge

FOLDER = Path(__file__).parent.parent / "data" / "cases"


@dataclass(frozen=True, slots=True)
class Case:
    """One report and the answer that its readers came to."""

    id: str
    rule: str  # "" = nothing is wrong, and nothing may be found
    is_established: bool
    evidence_words: tuple[str, ...]  # all of them must occur in what is cited
    fix_words: tuple[str, ...]  # all of them must occur in the first fix
    never_words: tuple[str, ...]  # none may occur in what is found

    def evidence(self) -> Evidence:
        """Return what the report gives, its log read by the log reader."""
        folder = FOLDER / self.id
        evidence = codec.loads((folder / "evidence.json").read_bytes())
        log = folder / "log.txt"
        return replace(evidence, log=scan.scan_file(log)) if log.exists() else evidence


@dataclass(frozen=True, slots=True)
class Score:
    """What was right in one case."""

    case: Case
    found: Diagnosis
    is_fault: bool
    has_evidence: bool
    is_fix: bool
    is_careful: bool  # "likely" where the report did not settle it
    said: tuple[str, ...]  # words that must not be said and were

    @property
    def points(self) -> float:
        """Return 1 for a full answer, 0.5 for the fault alone, else 0 (the cases' README)."""
        if not self.case.rule:
            return float(self.is_fault and not self.said)
        if not self.is_fault or not self.is_careful or self.said:
            return 0.0
        return 1.0 if self.is_fix and self.has_evidence else 0.5


def cases() -> tuple[Case, ...]:
    """Return all cases, their rules from the reviewed table."""
    rows = (FOLDER / "faults.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return tuple(_case(*row.split("\t")) for row in rows)


def is_open(case: Case) -> bool:
    """Tell the given cases (C) from the public reports that we found ourselves (P)."""
    return case.id.startswith("C")


def score(case: Case) -> Score:
    """Judge a case and compare the answer with the expected one."""
    found = judge.diagnose(case.evidence())
    verdict = found.verdict
    is_fault = (verdict.rule_id if verdict is not None else "") == case.rule
    fix = f"{verdict.fix.text}\n{verdict.fix.command}" if verdict is not None else ""
    cited = "\n".join(cite.text for cite in verdict.cites) if verdict is not None else ""
    is_sure = verdict is not None and verdict.certainty is Certainty.PROVEN
    return Score(
        case,
        found,
        is_fault=is_fault,
        has_evidence=all(re.search(words, cited) for words in case.evidence_words),
        is_fix=all(re.search(words, fix) for words in case.fix_words),
        is_careful=case.is_established or not is_sure,
        said=tuple(
            words
            for finding in (*((verdict,) if verdict is not None else ()), *found.also)
            for words in case.never_words
            if re.search(words, text_of(finding), re.IGNORECASE)
        ),
    )


def text_of(finding: Finding) -> str:
    """Return all that a finding says."""
    return "\n".join(
        (finding.title, finding.cause, finding.fix.text, finding.fix.command, finding.proof)
    )


def _case(name: str, _fault: str, rule: str) -> Case:
    expected = json.loads((FOLDER / name / "expected.json").read_text(encoding="utf-8"))
    return Case(
        name,
        rule,
        expected["is_established"],
        tuple(expected["evidence_words"]),
        tuple(expected["fix_words"]),
        tuple(expected["never_words"]),
    )
