"""The whole prompt is read again at each turn, because the cache cannot go back.

What: a sliding window keeps only its last cells, a recurrent state only its last value. A text
that is the same at its beginning cannot be taken up there again.
Evidence: the line "forcing full prompt re-processing due to lack of cache data".
Arithmetic: the full-size cache's bytes against the window's, from the cache lines of the log.
Fix: a window: --swa-full where the memory allows it, else more checkpoints. A state: checkpoints.
A change at the very start of the text (time, names) is the client's: nothing else helps there.
Proof: the second request reads few tokens.
Sources: advice.md part 3 row "Prompt read again each turn" (0 against 1238 of 1829 tokens kept);
llama.cpp issue 14157; tests/data/logs/b11434-cpu-prompt-cache-swa-reprocessing-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LoadStory
from app.core.rule import Finding, Fix, Rule
from app.rules import command, seen

_MORE_CHECKPOINTS = 64  # the default is 32 (--ctx-checkpoints, build 11434)


def check(evidence: Evidence) -> Finding | None:
    """Find the server's word that it reads a prompt from the start."""
    again = evidence.log.all(Fact.PROMPT_REPROCESSED) if evidence.log else ()
    if not again:
        return None
    times = f" {units.count(len(again))} times in this log" if len(again) > 1 else ""
    return Finding(
        cause=f"The whole prompt was read again{times}: this model's cache keeps only a window (or "
        "a state), so the known beginning of the text could not be used.",
        cites=tuple(seen.cite(event) for event in again[:2]),
        fix=_fix(evidence),
        proof="The second turn reads few tokens: the line “cached n_tokens” is high.",
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no line says that a prompt was read again"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of requests"


def _fix(evidence: Evidence) -> Fix:
    request = evidence.request
    if _is_recurrent(evidence):
        return Fix(
            "Use a build that keeps checkpoints of the state (2026), and keep more of them. This "
            "model's memory is a state and no window, so a full window's cache brings nothing.",
            f"--ctx-checkpoints {_MORE_CHECKPOINTS}",
        )
    if request is not None and request.swa_full:
        return Fix(
            "Keep more checkpoints of the cache. If the text changes at its very start at each "
            "turn (a time, a name), only the program that sends it can change that.",
            f"--ctx-checkpoints {_MORE_CHECKPOINTS}",
        )
    price = _price(seen.load(evidence))
    return command.fix(
        evidence,
        f"Restart with --swa-full: the window's cache is then kept in full{price}. If that does "
        f"not fit, keep more checkpoints instead: --ctx-checkpoints {_MORE_CHECKPOINTS}.",
        swa_full=True,
    )


def _is_recurrent(evidence: Evidence) -> bool:
    """Tell whether the model keeps a state: by its header or buffers, else by the server's words.

    Builds that know both kinds say "SWA or hybrid/recurrent"; the cache lines then show a window.
    """
    model, story = evidence.model, seen.load(evidence)
    if model is not None:
        return not model.whole("attention.sliding_window")
    if story is not None and story.event(Fact.RS_BUFFER) is not None:
        return True
    sizes = story.events if story is not None else ()
    has_cells = any(event.fact is Fact.KV_SIZE for event in sizes)
    again = evidence.log.last(Fact.PROMPT_REPROCESSED) if evidence.log is not None else None
    return again is not None and "hybrid" in again.text and not has_cells


def _price(story: LoadStory | None) -> str:
    """Say what the full cache costs, where both sizes can be read off the cache lines."""
    events = story.events if story else ()
    sizes = [e for e in events if e.fact is Fact.KV_SIZE and not e.is_projection]
    cells = [event.whole("cells") for event in sizes if "cells" in event.values]
    if len(cells) < 2 or min(cells) == max(cells):
        return ", which costs memory"
    more = sum(
        event.number("mib") * (max(cells) / event.whole("cells") - 1)
        for event in sizes
        if event.whole("cells") < max(cells)
    )
    return f", which costs {units.mib(int(more * units.MIB), 0)} more"


RULE = Rule(
    id="prompt-read-again",
    title="The prompt is read again at each turn",
    check=check,
    silent=silent,
    needs=needs,
)
