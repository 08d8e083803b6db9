"""Flash attention was switched off by hand, on a device, with a long context.

What: without it attention keeps a table of context by batch: a large compute buffer, and a slow
long context.
Evidence: "flash_attn = disabled" in the log, -fa off in the command, weights on a device, and a
context from 8192 tokens on. Where the device does not support it, the log says so: no fault.
Arithmetic: none; the size is a measurement.
Fix: remove the setting: automatic is right. Proof: "Flash Attention enabled", a smaller compute
buffer.
Sources: advice.md claims 32 to 34 (automatic is right; there are slower devices: measure both).
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.request import Switch
from app.core.rule import Certainty, Finding, Rule
from app.rules import command, seen

_LONG = 8192


def check(evidence: Evidence) -> Finding | None:
    """Find a long context on a device without flash attention, by request."""
    story, request = seen.load(evidence), evidence.request
    line = story.event(Fact.FLASH_ATTN) if story is not None else None
    if story is None or line is None or request is None or not story.weights_on_device:
        return None
    if story.flash_attn != "disabled" or request.flash_attn is not Switch.OFF:
        return None
    if (story.n_ctx or 0) < _LONG:
        return None
    return Finding(
        cause=f"Flash attention is switched off by hand, with {units.count(story.n_ctx)} tokens of "
        "context. Long texts are then slower and take more memory on most devices.",
        cites=(seen.cite(line),),
        fix=command.fix(
            evidence,
            "Remove -fa off: the automatic setting is right for nearly all devices. Measure both "
            "with a long prompt; on a few devices off is faster.",
            flash_attn=Switch.AUTO,
        ),
        proof="The line says that flash attention is enabled, and the compute buffer is smaller.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if story is not None and story.flash_attn != "disabled":
        return "flash attention was not switched off"
    return "flash attention was not switched off by hand for a long context on a device"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    story = seen.load(evidence)
    if story is None or story.flash_attn is None:
        return "no log that names flash attention"
    return "" if evidence.request is not None else "the command is not known"


RULE = Rule(
    id="flash-attention-off",
    title="Flash attention is off",
    check=check,
    silent=silent,
    needs=needs,
)
