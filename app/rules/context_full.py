"""The context was full while an answer was written: its end was cut, or the oldest text dropped.

What: prompt and answer share one context. At its end llama-server stops the answer, or, with
--context-shift, throws away the oldest half and goes on.
Evidence: the line of the server with "truncated = 1", or of each shift.
Arithmetic: twice the context of one request, as -c counts it for all requests, and not above the
trained length.
Fix: a longer context. Proof: the line is gone for the same request.
Sources: update_slots and process_token in tools/server/server-context.cpp of build 11434 (both
set slot.truncated); tests/data/logs/b11434-cpu-context-full-no-shift-default-verbosity.log and
b11434-cpu-context-shift-gemma-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Finding, Fix, Rule
from app.rules import command, seen

# older servers and Ollama cut a prompt without a figure
_OF_PROMPTS = ("input truncated", "truncating input")


def check(evidence: Evidence) -> Finding | None:
    """Find an answer for which the context had no room."""
    lines = _lines(evidence)
    if not lines:
        return None
    shifts = [line for line in lines if "shift" in line.values]
    prompts = [line for line in lines if any(words in line.text for words in _OF_PROMPTS)]
    one = _of_one_request(evidence, lines)
    size = f" of {units.count(one)} tokens" if one else ""
    if prompts:
        what = "was too short for the prompt. A part of the prompt was left out."
    elif shifts:
        what = (
            "was full while an answer was written. The oldest text was thrown away "
            f"{_times(len(shifts))} to go on: the model no longer knows it."
        )
    else:
        what = "was full while an answer was written. The answer was cut there."
    first = (prompts or shifts)[:1]
    return Finding(
        cause=f"The context{size} {what}",
        cites=tuple(seen.cite(line) for line in _once(*first, lines[-1])),
        fix=_fix(evidence, one),
        proof="The line is gone for the same request.",
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no answer reached the end of the context"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of requests"


def _lines(evidence: Evidence) -> tuple[LogEvent, ...]:
    """Return the lines about answers; a prompt that was cut names its limit (prompt-cut)."""
    if evidence.log is None:
        return ()
    found = evidence.log.all(Fact.CONTEXT_TRUNCATED)
    return tuple(line for line in found if "limit" not in line.values)


def _once(*lines: LogEvent) -> tuple[LogEvent, ...]:
    return tuple({line.line: line for line in lines}.values())


def _times(n: int) -> str:
    return "once" if n == 1 else f"{units.count(n)} times"


def _of_one_request(evidence: Evidence, lines: tuple[LogEvent, ...]) -> int:
    """Return the context of one request in tokens, 0 = the log does not tell."""
    story = seen.load(evidence)
    if story is not None and (story.n_ctx_slot or story.n_ctx):
        return story.n_ctx_slot or story.n_ctx or 0
    return max((line.whole("n") for line in lines if "n" in line.values), default=0)


def _fix(evidence: Evidence, one: int) -> Fix:
    shorter = "start a new chat, or ask for a shorter answer"
    story = seen.load(evidence)
    trained = story.n_ctx_train if story is not None else None
    wanted = min(2 * one, trained) if trained else 2 * one
    if one and wanted <= one:
        return Fix(
            f"The context already is as long as the model was trained for "
            f"({units.count(one)} tokens): {shorter}."
        )
    if not one:
        return Fix(f"Set a longer context, or {shorter}.")
    shared = story.n_ctx // one if story is not None and story.n_ctx and story.n_ctx > one else 1
    return command.fix(
        evidence,
        f"Set a longer context, for example {units.count(wanted)} tokens a request, or {shorter}. "
        "The KV cache grows with it.",
        ctx=wanted * shared,
    )


RULE = Rule(
    id="context-full",
    title="The context was full",
    check=check,
    silent=silent,
    needs=needs,
)
