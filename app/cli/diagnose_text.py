"""A diagnosis as text for a terminal: the verdict first, then what it rests on."""

from app.cli.block_text import block_text
from app.core import units
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.proof import Proof
from app.core.ranking import Option, Ranking
from app.core.rule import Diagnosis
from app.report import before_after, incident, looked_at, rates, verdict, watched
from app.report.blocks import Block, Bullets, Column, Command, Heading, Paragraph, Table
from app.report.pictures import level_text

_PATH = (Column("One on top of the other"), Column("Gain"), Column("Speed then"))


def diagnose_text(
    evidence: Evidence,
    diagnosis: Diagnosis,
    predicted: Forecast,
    proof: Proof | None = None,
    ranking: Ranking | None = None,
    *,
    shows_all: bool = False,
) -> str:
    """Return verdict, evidence lines, what is ruled out, rates, prediction, and what would help.

    shows_all: also the checks that are only counted otherwise.
    """
    blocks: list[Block] = list(verdict.summary(diagnosis))
    if diagnosis.verdict is not None:
        blocks.append(Heading("Evidence"))
    blocks += verdict.evidence_blocks(diagnosis)
    blocks += [Heading("The seven steps"), *looked_at.blocks(evidence, diagnosis, predicted, proof)]
    blocks += [Heading("Speed"), *rates.blocks(evidence, predicted), *watched.blocks(evidence)]
    blocks += _help(ranking or Ranking())
    if proof is not None:
        blocks += [Heading("Before and after the change"), *before_after.blocks(proof)]
        blocks += [Heading("Incident note")]
        blocks += incident.blocks(evidence, diagnosis, predicted, proof)
    if shows_all:
        blocks += [Heading("All checks"), *verdict.annex(diagnosis)]
    if evidence.notes:
        blocks += [Heading("Notes"), Bullets(evidence.notes)]
    return block_text(blocks)


def _help(ranking: Ranking) -> list[Block]:
    path = ranking.path
    found: list[Block] = []
    for option in ranking.options:
        found.append(Paragraph(f"{option.id}: {option.title}, {_gain(option)}"))
        found.append(Bullets((f"{option.text} Cost: {option.cost}",)))
        if option.command:
            found.append(Command(option.command))
    if path is not None and path.stages:
        rows = [("Now", "", level_text(path.now))]
        rows += [(s.title, units.times(s.gain.value), level_text(s.level)) for s in path.stages]
        found += [Paragraph("To the best speed, each step on top of the former ones:")]
        found.append(Table(_PATH, tuple(rows)))
    elif path is not None and path.why:
        found.append(Paragraph(f"No path to the best speed is drawn: {path.why}."))
    return [Heading("What would help, each change alone"), *found] if found else []


def _gain(option: Option) -> str:
    if option.gain is None:
        return f"no figure: {option.reason}"
    span = units.times_range(option.gain.low, option.gain.high)
    return f"{units.times(option.gain.value)} ({span}) while writing"
