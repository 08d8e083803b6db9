"""The context is longer than the model was trained for.

What: beyond its trained length a model loses the thread, unless its maker says how to stretch it.
Evidence: the warning with both numbers.
Arithmetic: n_ctx against n_ctx_train.
Fix: the trained length. Proof: the warning is gone.
Sources: llama-context.cpp and server-context.cpp of llama.cpp, build 11434; advice.md part 3 row
"Context above training"; tests/data/logs/b11434-cpu-ctx-above-train-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Rule
from app.rules import command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find a context above the trained length."""
    story = seen.load(evidence)
    if story is None:
        return None
    line = story.event(Fact.CTX_ABOVE_TRAIN) or story.event(Fact.CTX_CAPPED)
    if line is None or "train" not in line.values:
        return None
    train = line.whole("train")
    is_capped = story.event(Fact.CTX_CAPPED) is not None
    effect = (
        "The rest of the cache is allocated and never used."
        if is_capped
        else "Text beyond that may lose the thread."
    )
    return Finding(
        cause=f"The context has {units.count(line.whole('n'))} tokens, and the model was trained "
        f"for {units.count(train)}. {effect}",
        cites=(seen.cite(line),),
        fix=command.fix(
            evidence,
            f"Set the context to the trained length, {units.count(train)}. It also takes less "
            "memory. Longer only if the model's maker says how.",
            ctx=train,
        ),
        proof="The warning is gone.",
        certainty=Certainty.PROVEN if is_capped else Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no line says that the context is above the trained length"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if seen.load(evidence) is not None else "no log of a load"


RULE = Rule(
    id="context-above-training",
    title="The context is above the trained length",
    check=check,
    silent=silent,
    needs=needs,
)
