"""The report as a value: sections in the order in which helpers read them, drawn by no one yet."""

from dataclasses import dataclass

from app import product
from app.core.evidence import Evidence
from app.core.forecast import Forecast, forecast
from app.core.proof import Proof
from app.core.ranking import Ranking
from app.core.rule import Diagnosis
from app.report import (
    before_after,
    computer,
    incident,
    looked_at,
    model,
    placed,
    program,
    ranking,
    rates,
    verdict,
    watched,
)
from app.report.blocks import Block, Bullets, Column, Paragraph, Table
from app.report.form import Form, form


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report; the key names it for writers and tests."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report; form holds the answers that issue trackers ask for."""

    title: str
    subtitle: str
    made_by: str
    created: str
    sections: tuple[Section, ...]
    form: Form

    def section(self, key: str) -> Section | None:
        """Return a section by its key."""
        return next((section for section in self.sections if section.key == key), None)


def build(
    evidence: Evidence,
    diagnosis: Diagnosis,
    *,
    predicted: Forecast | None = None,
    proof: Proof | None = None,
    ranked: Ranking | None = None,
    created: str = "",
    header_sha256: str = "",
    removed: tuple[tuple[str, int], ...] | None = None,
) -> Document:
    """Make the report of evidence that was made fit for other eyes (redact.py) before.

    removed is what redaction took out, None = nothing was redacted.
    """
    found = predicted or forecast(evidence)
    # users.md: maintainers look for program, command and evidence first
    sections = (
        Section("verdict", "", verdict.summary(diagnosis)),
        Section("proof", "Before and after the change", before_after.blocks(proof)),
        Section("program", "Program and build", program.blocks(evidence)),
        Section("command", "Command and settings", program.command_blocks(evidence)),
        Section("evidence", "Evidence", verdict.evidence_blocks(diagnosis)),
        Section("steps", "The seven steps", looked_at.blocks(evidence, diagnosis, found, proof)),
        Section("placement", "Where the bytes are", placed.blocks(evidence, found)),
        Section("rates", "Speed", (*rates.blocks(evidence, found), *watched.blocks(evidence))),
        Section("incident", "Incident note", incident.blocks(evidence, diagnosis, found, proof)),
        Section("options", "What would help", ranking.blocks(evidence, found, ranked or Ranking())),
        Section("model", "Model file", model.blocks(evidence, header_sha256)),
        Section("computer", "Computer", computer.blocks(evidence)),
        Section("privacy", "What was left out", _left_out(evidence, removed)),
        Section("annex", "Annex: the other checks", verdict.annex(diagnosis)),
    )
    name = evidence.model.name if evidence.model else "no model file"
    return Document(
        title=f"{product.NAME} report",
        subtitle=name,
        made_by=f"{product.NAME} {product.VERSION}",
        created=created,
        sections=tuple(section for section in sections if section.blocks),
        form=form(evidence, diagnosis),
    )


def _left_out(evidence: Evidence, removed: tuple[tuple[str, int], ...] | None) -> tuple[Block, ...]:
    found: list[Block] = []
    if removed is None:
        found.append(Paragraph("Names and paths were not taken out of this report."))
    elif removed:
        rows = tuple((kind, str(n)) for kind, n in removed)
        found.append(Table((Column("Taken out", share=4), Column("Times", is_number=True)), rows))
    else:
        found.append(Paragraph("Nothing personal was found that had to be taken out."))
    if evidence.notes:
        found += [Paragraph("What to know about the run:"), Bullets(evidence.notes)]
    found.append(
        Paragraph(
            "The evidence behind this report is a JSON file, attached to its PDF. "
            f"{product.NAME} opens it and shows the same.",
            is_quiet=True,
        )
    )
    return tuple(found)
