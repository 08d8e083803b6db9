"""The prompt is longer than the context, so a part of it was dropped or the request refused.

What: Ollama drops the beginning and answers without an error; llama-server refuses.
Evidence: the runtime's line with the prompt's tokens and the limit.
Arithmetic: prompt + room for an answer, up to the next power of two.
Fix: a context of at least that. Proof: the line is gone and the prompt count is whole.
Sources: advice.md claims 17 and 86; runner.go of Ollama; Ollama issue 8099; users.md row 10.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Finding, Fix, Rule
from app.rules import command, seen

_ANSWER = 1024  # tokens left for the answer


def check(evidence: Evidence) -> Finding | None:
    """Find a prompt that did not fit."""
    if evidence.log is None:
        return None
    cut = [e for e in evidence.log.all(Fact.CONTEXT_TRUNCATED) if "limit" in e.values]
    too_long = evidence.log.all(Fact.REQUEST_TOO_LONG)
    refused = [e for e in too_long if "n" in e.values]
    longest = max((*cut, *refused), key=lambda event: event.whole("n"), default=None)
    if longest is None:
        return _uncounted(evidence, too_long[-1]) if too_long else None
    limit = longest.values.get("limit", longest.values.get("n_ctx"))
    shown = f" of {units.count(int(limit))} tokens" if limit is not None else ""
    what = "refused" if longest.fact is Fact.REQUEST_TOO_LONG else "cut without a word to the user"
    return Finding(
        cause=f"The prompt has {units.count(longest.whole('n'))} tokens, more than the context"
        f"{shown}. It was {what}.",
        cites=(seen.cite(longest),),
        fix=_fix(evidence, longest),
        proof="The line is gone, and the prompt is counted whole.",
    )


def _uncounted(evidence: Evidence, line: LogEvent) -> Finding:
    """Tell of a request that was refused by a build that does not say how long it is."""
    story = seen.load(evidence)
    n_ctx = story.n_ctx if story is not None else None
    shown = f" of {units.count(n_ctx)} tokens" if n_ctx else ""
    return Finding(
        cause=f"The prompt is longer than the context{shown}. It was refused.",
        cites=(seen.cite(line),),
        fix=Fix(
            "Set a longer context (-c), or send less: drop the oldest messages. With several "
            "slots (-np) each may have only its share of the context."
        ),
        proof="The line is gone, and the prompt is counted whole.",
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no prompt was cut or refused"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of requests"


def _fix(evidence: Evidence, line: LogEvent) -> Fix:
    wanted = 1 << (line.whole("n") + _ANSWER - 1).bit_length()
    is_ollama = seen.runtime(evidence) == "ollama"
    name = "num_ctx" if is_ollama else "the context"
    where = (
        " (in the request or the Modelfile, or OLLAMA_CONTEXT_LENGTH for the service)"
        if is_ollama
        else ""
    )
    return command.fix(
        evidence,
        f"Set {name} to at least {units.count(wanted)}{where}: the prompt and an answer. "
        f"{_price(evidence, wanted)}",
        ctx=wanted,
    )


def _price(evidence: Evidence, wanted: int) -> str:
    """Say what the longer context costs, from the cache lines where the log has them."""
    story = seen.load(evidence)
    events = story.events if story else ()
    sizes = [e for e in events if e.fact is Fact.KV_SIZE and not e.is_projection]
    if story is None or not story.n_ctx or not sizes:
        return "The KV cache grows with it, so look at the memory that stays free."
    per_cell = sum(event.number("mib") for event in sizes) / story.n_ctx
    return f"Its KV cache then takes about {units.mib(int(per_cell * wanted * units.MIB), 0)}."


RULE = Rule(
    id="prompt-cut",
    title="The prompt was longer than the context",
    check=check,
    silent=silent,
    needs=needs,
)
