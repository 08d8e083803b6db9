"""What the Diagnose tab shows of a second run: texts, a pure function of the proof."""

from dataclasses import dataclass

from app.core import units
from app.core.proof import TITLES, Pair, Proof, RatePair, span


@dataclass(frozen=True, slots=True)
class Row:
    """One observation before and after; is_changed makes it stand out, with its word."""

    what: str
    before: str
    after: str
    word: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class ProofView:
    """Everything of the card."""

    title: str
    sentence: str
    is_proven: bool
    rows: tuple[Row, ...]
    left: str  # what the second run still shows, "" = nothing


def proof_view(proof: Proof) -> ProofView:
    """Return what to show."""
    left = ", ".join(finding.title for finding in proof.left)
    return ProofView(
        title=TITLES[proof.verdict],
        sentence=proof.sentence,
        is_proven=proof.is_proven,
        rows=(*map(_rate, proof.rates), *map(_line, proof.pairs)),
        left=f"The second run still shows: {left}." if left else "",
    )


def _rate(pair: RatePair) -> Row:
    def told(index: int) -> str:
        run = (pair.before, pair.after)[index]
        return f"{units.rate(run.mean_tps)} ({span(run)})"

    name = f"{pair.before.test.title}, {units.count(pair.before.n_tokens)} tokens"
    is_changed = pair.change.value in ("faster", "slower")
    return Row(name, told(0), told(1), pair.change.value, is_changed)


def _line(pair: Pair) -> Row:
    word = "changed" if pair.is_changed else "as before"
    return Row(pair.what, pair.before, pair.after, word, pair.is_changed)
