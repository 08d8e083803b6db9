"""The verdict of a report: the fault, the one change, the lines, and what rules the rest out."""

from app.core.rule import Certainty, Cite, Diagnosis, Finding, Ruled
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
    near = [ruled for ruled in diagnosis.ruled_out if ruled.is_near]
    if diagnosis.ruled_out:
        blocks += [Heading("Ruled out", 2), *_ruled_out(near)]
        blocks += _more(len(diagnosis.ruled_out) - len(near), len(near), "found nothing")
    missing = [ruled for ruled in diagnosis.not_checked if ruled.is_near]
    if diagnosis.not_checked:
        blocks += [Heading("Not checked", 2), *_missing(missing)]
        n_left = len(diagnosis.not_checked) - len(missing)
        blocks += _more(n_left, len(missing), "could not be made")
    return tuple(blocks)


def annex(diagnosis: Diagnosis) -> tuple[Block, ...]:
    """Return the checks that the first pages only count."""
    far = [ruled for ruled in diagnosis.ruled_out if not ruled.is_near]
    missing = [ruled for ruled in diagnosis.not_checked if not ruled.is_near]
    blocks: list[Block] = []
    if far:
        blocks += [Heading("Also ruled out", 2), *_ruled_out(far)]
    if missing:
        blocks += [Heading("Also not checked", 2), *_missing(missing)]
    return tuple(blocks)


def _ruled_out(ruled_out: list[Ruled]) -> tuple[Block, ...]:
    rows = tuple((ruled.title, ruled.because) for ruled in ruled_out)
    columns = (Column("Fault", share=2), Column("Because", share=3))
    return (Table(columns, rows),) if rows else ()


def _missing(not_checked: list[Ruled]) -> tuple[Block, ...]:
    """List what was not checked; what lacks the same stands in one line."""
    lacks: dict[str, list[str]] = {}
    for ruled in not_checked:
        lacks.setdefault(ruled.because, []).append(ruled.title)
    items = tuple(f"{'; '.join(titles)}: {because}" for because, titles in lacks.items())
    return (Bullets(items),) if items else ()


def _more(n: int, n_shown: int, what: str) -> tuple[Block, ...]:
    if not n:
        return ()
    more = " more" if n_shown else ""
    verb = "checks" if n > 1 else "check"
    text = f"{n}{more} {verb} {what}. The annex lists them (on the command line: --all)."
    return (Paragraph(text, is_quiet=True),)


def quote(cites: tuple[Cite, ...]) -> Quote:
    """Return cites as quoted lines."""
    return Quote(tuple(Line(cite.text, cite.line, cite.source) for cite in cites))


def _advice(finding: Finding) -> str:
    command = f" {finding.fix.command}" if finding.fix.command else ""
    return f"{finding.fix.text}{command}"
