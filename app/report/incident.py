"""The incident note: symptom, evidence, cause, fix and verification, to keep or to send."""

from app.core import units
from app.core.bench import BenchRun
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.proof import Proof, span
from app.core.rule import Certainty, Cite, Diagnosis
from app.core.symptom import TEXTS, Symptom
from app.report.blocks import NAME_VALUE, Block, Table

_MOST_LINES = 4
_CERTAINTY = {
    Certainty.PROVEN: "seen in the evidence",
    Certainty.LIKELY: "likely",
    Certainty.NOT_PROVEN: "not proven",
}


def blocks(
    evidence: Evidence, diagnosis: Diagnosis, predicted: Forecast, proof: Proof | None
) -> tuple[Block, ...]:
    """Return the note as a table, () when nothing was found."""
    found = diagnosis.verdict
    if found is None:
        return ()
    # what was tried is what the verification speaks of, also where it is not the verdict's fix
    change = found.fix if proof is None else proof.finding.fix
    fix = f"{change.text} {change.command}".strip()
    rows = (
        ("Symptom", _symptom(evidence)),
        ("Evidence", "\n".join(_line(cite) for cite in found.cites[:_MOST_LINES]) or "none"),
        ("Cause", f"{found.title} ({_CERTAINTY[found.certainty]}). {found.cause}"),
        ("Predicted", _predicted(predicted)),
        ("Fix", fix),
        ("Verification", _verification(found.proof, proof)),
    )
    return (Table(NAME_VALUE, tuple(row for row in rows if row[1])),)


def _symptom(evidence: Evidence) -> str:
    said = [TEXTS[s] for s in Symptom if s.value == evidence.symptom]
    rates = [_rate(run) for run in evidence.runs[-2:]]
    return "; ".join([*said, *rates]) or "not said"


def _rate(run: BenchRun) -> str:
    return f"{run.test.value} {units.rate(run.mean_tps)} ({span(run)})"


def _line(cite: Cite) -> str:
    where = f"line {units.count(cite.line)}" if cite.line is not None else cite.source
    return f"{where}: {cite.text.strip()}"


def _predicted(predicted: Forecast) -> str:
    found = predicted.prediction.slowdown
    if found is None:
        return ""
    span = units.times_range(found.low, found.high)
    return f"slowdown {units.times(found.value)} ({span}), {found.source}"


def _verification(how: str, proof: Proof | None) -> str:
    if proof is None:
        return f"Not verified yet. It is when: {how}" if how else "Not verified yet."
    left = f" Still shown: {'; '.join(f.title for f in proof.left)}." if proof.left else ""
    return f"{proof.sentence}{left}"


def text(evidence: Evidence, diagnosis: Diagnosis, predicted: Forecast, proof: Proof | None) -> str:
    """Return the note as lines to paste, "" when nothing was found."""
    tables = (b for b in blocks(evidence, diagnosis, predicted, proof) if isinstance(b, Table))
    return "\n".join(f"{name}: {value}" for table in tables for name, value in table.rows)
