"""A setting does not take effect, and only the runtime's log says so.

What: Ollama drops a cache type without flash attention, and flash attention on a GPU without it.
Evidence: the runtime's own line.
Arithmetic: none.
Fix: what the setting needs, or the setting away. Proof: the line is gone.
Sources: llm/server.go of Ollama 0.33; advice.md claim 29; users.md (request is not fact).
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import seen


def check(evidence: Evidence) -> Finding | None:
    """Find the line about a setting that is dropped."""
    line = evidence.log.last(Fact.SETTING_IGNORED) if evidence.log else None
    if line is None:
        return None
    what = str(line.values.get("what", line.text))
    return Finding(
        cause=f"A setting does not take effect: {what}. The runtime goes on without it.",
        cites=(seen.cite(line),),
        fix=_fix(what),
        proof="The line is gone.",
        certainty=Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Say nothing: only Ollama prints such a line."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the runtime"


def _fix(what: str) -> Fix:
    if "flash attention disabled" in what:
        return Fix(
            "Switch flash attention on in the environment of the service: a quantised cache needs "
            "it.",
            "OLLAMA_FLASH_ATTENTION=1",
        )
    if "cache type" in what:
        return Fix("Leave the cache type at f16 for this model, or choose q8_0.")
    return Fix("Remove the setting: this device or model does not support it.")


RULE = Rule(
    id="setting-ignored",
    title="A setting does not take effect",
    check=check,
    silent=silent,
    needs=needs,
)
