"""The seven steps of a report: what each brought, and why one was not possible."""

from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.proof import Proof
from app.core.rule import Diagnosis
from app.core.seven_steps import seven_steps
from app.report.blocks import Block, Column, Table


def blocks(
    evidence: Evidence, diagnosis: Diagnosis, predicted: Forecast, proof: Proof | None = None
) -> tuple[Block, ...]:
    """Return the steps as a table, in their order."""
    rows = tuple(
        (f"{number}. {step.title}", step.brought or f"not possible: {step.why_not}")
        for number, step in enumerate(seven_steps(evidence, diagnosis, predicted, proof), 1)
    )
    return (Table((Column("Step", share=2), Column("What it brought", share=3)), rows),)
