"""One layer too many on the card: with more layers it got slower, because the card overflowed.

What: below about 0.7 GB of free memory drivers begin to move card memory into system memory.
Evidence: two rates that differ only in the layers, more layers being slower, on a card with memory
of its own where the driver can move it (Windows, or CUDA's unified memory): elsewhere it fails.
Arithmetic: the rate with fewer layers over the rate with more, 1.15 and above.
Fix: two layers fewer than the slow number, or a margin of 1536 MiB.
Proof: more than 0.7 GB stay free, and the rate is up.
Sources: slowdown.md section 7 (8 series, 1.1 to 4 times); advice.md part 3 and claim 60.
"""

from app.core import units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.rule import Certainty, Finding, Rule
from app.rules import command, rates, seen

UNIFIED = "GGML_CUDA_ENABLE_UNIFIED_MEMORY"
_STEP = 2


def check(evidence: Evidence) -> Finding | None:
    """Find a rate that fell when layers were added."""
    if not _can_move(evidence) or seen.shares_system_memory(evidence):
        return None
    pair = _pair(evidence)
    if pair is None:
        return None
    fewer, more = pair
    before, after = rates.whole(fewer, "n_gpu_layers"), rates.whole(more, "n_gpu_layers")
    assert before is not None and after is not None
    wanted = max(before, after - _STEP)
    return Finding(
        cause=f"With {after} layers on the card it writes {units.rate(more.mean_tps)}, with "
        f"{before} it was {units.rate(fewer.mean_tps)}: the card is overfull, and the driver moves "
        "its memory into system memory.",
        cites=tuple(rates.cite(run, "n_gpu_layers") for run in (fewer, more)),
        fix=command.fix(
            evidence,
            f"Put {wanted} layers on the card, not {after}, or let the program keep a larger "
            "margin (-fitt 1536).",
            ngl=wanted,
        ),
        proof="More than 0.7 GB of the card stay free, and the rate is up.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.machine is not None and not _can_move(evidence):
        return "the driver does not move memory here: an overfull card fails"
    return "no rate fell when layers were added"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.machine is None:
        return "the operating system is not known"
    if not _can_move(evidence):
        return ""
    n_runs = len(rates.of(evidence, Test.GENERATION))
    return "" if n_runs >= 2 else "two numbers of layers were not measured"


def _can_move(evidence: Evidence) -> bool:
    return seen.is_windows(evidence) or UNIFIED in dict(evidence.variables)


def _pair(evidence: Evidence) -> tuple[BenchRun, BenchRun] | None:
    """Return the faster run with fewer layers and the slower one with more."""
    for fast, slow in rates.pairs(evidence, Test.GENERATION):
        fewer, more = rates.whole(fast, "n_gpu_layers"), rates.whole(slow, "n_gpu_layers")
        if fewer is None or more is None or not 0 < fewer < more:
            continue
        if rates.differences(fast, slow) == {"n_gpu_layers"}:
            return fast, slow
    return None


RULE = Rule(
    id="one-layer-too-many",
    title="One layer too many on the card",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
