"""The device refuses the number format of some weights, so they stay in system memory.

What: a backend without code for a quantisation leaves such tensors on the host, whatever was
asked for; at the default verbosity no line says so.
Evidence: the debug line "cannot be used with preferred buffer type" that names a device and a
tensor other than the embedding, which is always on the host.
Arithmetic: how many tensors the line counts.
Fix: another quantisation of the same model. Proof: the line names only the embedding.
Sources: done_getting_tensors in llama.cpp src/llama-model-loader.cpp, build 11434; advice.md
part 3 row "Weights refused by the device".
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Finding, Fix, Rule
from app.rules import seen


def check(evidence: Evidence) -> Finding | None:
    """Find tensors that a device refused."""
    story = seen.load(evidence)
    line = story.event(Fact.TENSOR_REFUSED) if story is not None else None
    if line is None or line.word("tensor").startswith("token_embd"):
        return None
    kind, device = line.word("type"), line.word("preferred")
    return Finding(
        cause=f"{device} refuses {line.whole('others') + 1} tensors, the first of type {kind}: "
        "they stay in system memory although the layers were asked onto the device.",
        cites=(seen.cite(line),),
        fix=Fix(
            f"Take another quantisation of the same model, without {kind} (for example Q4_K_M or "
            "Q8_0)."
        ),
        proof="The model buffer on the host falls to the embedding.",
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no device refused a tensor beside the embedding"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    story = seen.load(evidence)
    if story is None:
        return "no log of a load"
    is_shown = story.event(Fact.TENSOR_REFUSED) is not None
    return "" if is_shown else "only a log of everything (-v) names tensors that a device refuses"


RULE = Rule(
    id="weights-refused",
    title="The device refuses some weights",
    check=check,
    silent=silent,
    needs=needs,
)
