"""Before and after side by side: what a second run with one change proved."""

from app.core import units
from app.core.proof import TITLES, Pair, Proof, span
from app.report.blocks import Block, Callout, Column, Heading, Paragraph, Table, Tone

_LINES = (
    Column("Observation", share=3),
    Column("Before", share=4),
    Column("After", share=4),
)
_RATES = (
    Column("Rate", share=3),
    Column("Before", is_number=True, share=3),
    Column("95 % interval", is_number=True, share=3),
    Column("After", is_number=True, share=3),
    Column("95 % interval", is_number=True, share=3),
    Column("Change", share=3),
)


def blocks(proof: Proof | None) -> tuple[Block, ...]:
    """Return the outcome, both rates, and the observations of both runs; () without a proof."""
    if proof is None:
        return ()
    tone = Tone.CLEAR if proof.is_proven else Tone.DOUBT
    found: list[Block] = [Callout(tone, "Second run", TITLES[proof.verdict], proof.sentence)]
    if proof.rates:
        rows = tuple(
            (
                f"{pair.before.test.value}, {units.count(pair.before.n_tokens)} tokens",
                units.rate(pair.before.mean_tps),
                span(pair.before),
                units.rate(pair.after.mean_tps),
                span(pair.after),
                pair.change.value,
            )
            for pair in proof.rates
        )
        found.append(Table(_RATES, rows))
    if proof.pairs:
        found.append(Table(_LINES, tuple(_row(pair) for pair in proof.pairs)))
    if proof.left:
        found += [
            Heading("What the second run still shows", 2),
            Paragraph("; ".join(finding.title for finding in proof.left) + "."),
        ]
    return tuple(found)


def _row(pair: Pair) -> tuple[str, ...]:
    return (pair.what, _line(pair.before, pair.line_before), _line(pair.after, pair.line_after))


def _line(text: str, number: int | None) -> str:
    return f"{text} (line {units.count(number)})" if number is not None else text
