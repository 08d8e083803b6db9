"""The verdict of a report: the fault, the one change, the lines, and what rules the rest out."""

from app.core.rule import Certainty, Cite, Diagnosis, Finding
from app.report.blocks import (
    Block,
    Bullets,
    Callout,
    Column,
    Command,
    Heading,
    Line,
    Paragraph,
    Quote,
    Table,
    Tone,
)

_WORDS = {
    Certainty.PROVEN: "Proven",
    Certainty.LIKELY: "Likely",
    Certainty.NOT_PROVEN: "Not proven",
}


def summary(diagnosis: Diagnosis) -> tuple[Block, ...]:
    """Return the verdict in a box and the one change."""
    found = diagnosis.verdict
    if found is None:
        n = len(diagnosis.ruled_out)
        text = f"None of {n} checks matched." if n else "Too little is known to check anything."
        if diagnosis.not_checked:
            text += f" {len(diagnosis.not_checked)} could not be made; they are listed below."
        return (Callout(Tone.CLEAR, "Result", "Nothing found", text),)
    tone = Tone.FAULT if found.certainty is Certainty.PROVEN else Tone.DOUBT
    blocks: list[Block] = [
        Callout(tone, _WORDS[found.certainty], found.title, found.cause),
        Heading("The one change", 2),
        Paragraph(found.fix.text),
    ]
    if found.fix.command:
        blocks.append(Command(found.fix.command))
    if found.proof:
        blocks.append(Paragraph(f"How it is proven: {found.proof}", is_quiet=True))
    return tuple(blocks)


def evidence_blocks(diagnosis: Diagnosis) -> tuple[Block, ...]:
    """Return the cited lines, further findings, what is ruled out and what was not checked."""
    blocks: list[Block] = []
    if diagnosis.verdict is not None:
        blocks.append(quote(diagnosis.verdict.cites))
    for finding in diagnosis.also:
        blocks += [
            Heading(f"Also: {finding.title} ({_WORDS[finding.certainty].lower()})", 2),
            Paragraph(finding.cause),
        ]
        if finding.cites:
            blocks.append(quote(finding.cites))
        blocks.append(Paragraph(_advice(finding), is_quiet=True))
    if diagnosis.ruled_out:
        rows = tuple((ruled.title, ruled.because) for ruled in diagnosis.ruled_out)
        blocks += [
            Heading("Ruled out", 2),
            Table((Column("Fault", share=2), Column("Because", share=3)), rows),
        ]
    if diagnosis.not_checked:
        items = tuple(f"{ruled.title}: {ruled.because}" for ruled in diagnosis.not_checked)
        blocks += [Heading("Not checked", 2), Bullets(items)]
    return tuple(blocks)


def quote(cites: tuple[Cite, ...]) -> Quote:
    """Return cites as quoted lines."""
    return Quote(tuple(Line(cite.text, cite.line, cite.source) for cite in cites))


def _advice(finding: Finding) -> str:
    command = f" {finding.fix.command}" if finding.fix.command else ""
    return f"{finding.fix.text}{command}"
