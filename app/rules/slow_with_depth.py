"""Slow only with a long context: each token also reads the cache of all tokens before it.

What: writing slows down as the text grows, by the bytes of the cache beside those of the weights.
Evidence: two generation rates that differ only in the depth, the drop being about what the cache's
bytes predict. A larger drop has another cause.
Arithmetic: (weights + cache at that depth) / weights, against the rates' ratio.
Fix: K and V as q8_0, with flash attention. Proof: the rate at that depth.
Sources: placement.md 5; slowdown.md section 6 (predicted -4.4, measured -6.4 %); users.md row 17.
"""

from app.core import units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Rule
from app.rules import command, rates, seen

_TOO_MUCH = 1.5  # times the predicted drop: then the cache does not explain it


def check(evidence: Evidence) -> Finding | None:
    """Find a rate that falls with the depth as the cache predicts."""
    pair = _pair(evidence)
    predicted = _predicted(evidence, pair[1]) if pair is not None else None
    if pair is None or predicted is None or _is_quantised(evidence):
        return None
    short, long = pair
    ratio = short.mean_tps / long.mean_tps
    if ratio > 1 + _TOO_MUCH * (predicted - 1):
        return None
    return Finding(
        cause=f"Writing is {ratio:.1f} times slower behind {units.count(long.depth)} tokens of "
        f"text than at its start. The KV cache, read for each token, explains {predicted:.1f}.",
        cites=tuple(rates.cite(run) for run in pair),
        fix=command.fix(
            evidence,
            "Keep the KV cache as q8_0, K and V: half of the bytes to read. It needs flash "
            "attention, and rounds keys and values a little.",
            cache_type_k="q8_0",
            cache_type_v="q8_0",
        ),
        proof="The rate at the same depth is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if _is_quantised(evidence):
        return "the KV cache is quantised already"
    return "the rate does not fall with the length of the text as the cache predicts"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    depths = {run.depth for run in rates.of(evidence, Test.GENERATION)}
    return "" if len(depths) >= 2 else "the rate was not measured at two depths"


def _pair(evidence: Evidence) -> tuple[BenchRun, BenchRun] | None:
    for fast, slow in rates.pairs(evidence, Test.GENERATION):
        if fast.depth < slow.depth and not rates.differences(fast, slow):
            return fast, slow
    return None


def _predicted(evidence: Evidence, run: BenchRun) -> float | None:
    """Return the drop that the cache's bytes make; None = a size is not known."""
    story = seen.load(evidence)
    weights = run.model_bytes or (evidence.model.file_bytes if evidence.model else 0)
    if story is None or not story.n_ctx or not weights:
        return None
    sizes = [e for e in story.events if e.fact is Fact.KV_SIZE and not e.is_projection]
    cache = sum(event.number("mib") * units.MIB for event in sizes)
    return 1 + cache * run.depth / story.n_ctx / weights if cache else None


def _is_quantised(evidence: Evidence) -> bool:
    story = seen.load(evidence)
    types = (story.cache_type_k, story.cache_type_v) if story is not None else ()
    return any(name not in (None, "f16", "bf16", "f32") for name in types)


RULE = Rule(
    id="slow-with-depth",
    title="Slow only with a long context",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
