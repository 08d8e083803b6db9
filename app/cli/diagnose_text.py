"""A diagnosis as text for a terminal: the verdict first, then what it rests on."""

from app.cli.block_text import block_text
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.proof import Proof
from app.core.rule import Diagnosis
from app.report import before_after, incident, rates, verdict
from app.report.blocks import Block, Bullets, Heading


def diagnose_text(
    evidence: Evidence, diagnosis: Diagnosis, predicted: Forecast, proof: Proof | None = None
) -> str:
    """Return verdict, evidence lines, what is ruled out, rates and prediction."""
    blocks: list[Block] = list(verdict.summary(diagnosis))
    if diagnosis.verdict is not None:
        blocks.append(Heading("Evidence"))
    blocks += verdict.evidence_blocks(diagnosis)
    blocks += [Heading("Speed"), *rates.blocks(evidence, predicted)]
    if proof is not None:
        blocks += [Heading("Before and after the change"), *before_after.blocks(proof)]
        blocks += [Heading("Incident note")]
        blocks += incident.blocks(evidence, diagnosis, predicted, proof)
    if evidence.notes:
        blocks += [Heading("Notes"), Bullets(evidence.notes)]
    return block_text(blocks)
