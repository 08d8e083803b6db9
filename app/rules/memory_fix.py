"""The first fix after a load that found no memory: what was named gets smaller.

Sources: advice.md part 3 row "Load failed: memory"; memory_words.py for other runtimes than
llama.cpp, whose users know no -ngl.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import LogEvent
from app.core.rule import Fix
from app.rules import command, memory_words, seen

_EXAMPLE_CTX = 16_384  # long enough for most chats and short documents


def first(evidence: Evidence, part: str, errors: tuple[LogEvent, ...]) -> Fix:
    """Return the fix for weights, kv, compute or "" (the log does not tell)."""
    own = memory_words.of_runtime(seen.runtime(evidence), part)
    example = _example(evidence, errors) if part == "kv" else None
    if example is not None:
        by_fit = (
            " Or leave -c and --fit off away, so that the automatic fit takes the longest that "
            "fits."
        )
        return command.fix(
            evidence,
            f"Set a context that fits: {example[1]}{'' if own else by_fit}",
            ctx=example[0],
        )
    if own:
        return Fix(own)
    if part == "weights":
        return Fix(
            "Leave the number of layers to the program: remove -ngl and --fit off.",
            command.server(evidence, ngl=None),
        )
    if part == "compute":
        return Fix(
            "Use a smaller micro-batch. Prompts are then read more slowly, writing is the same.",
            command.server(evidence, ubatch=256),
        )
    request = evidence.request
    if not part and (request is None or not request.ctx):
        return Fix(
            "Put less on the device: leave the layers and the context to the program (no -ngl, no "
            "-c, no --fit off). If it fails as well, take fewer layers, a shorter context or a "
            "smaller file.",
            command.server(evidence, ngl=None, ctx=None),
        )
    extra = " and --swa-full" if request is not None and request.swa_full else ""
    return Fix(
        f"Remove -c{extra}: the program then takes the longest context that fits.",
        command.server(evidence, ctx=None, swa_full=False),
    )


def _example(evidence: Evidence, errors: tuple[LogEvent, ...]) -> tuple[int, str] | None:
    """Return a shorter context and what it takes, where bytes per token can be told."""
    model, request = evidence.model, evidence.request
    asked = request.ctx if request is not None and request.ctx else None
    ctx = asked or (model.whole("context_length") if model is not None else None)
    sizes = [error.values["n_bytes"] for error in errors if "n_bytes" in error.values]
    has_full_window = request is not None and request.swa_full  # its cache goes first
    if not ctx or not sizes or ctx <= _EXAMPLE_CTX or has_full_window:
        return None
    n_bytes = int(float(sizes[0]))
    takes = units.size(n_bytes * _EXAMPLE_CTX / ctx)
    text = (
        f"{units.count(_EXAMPLE_CTX)} tokens take {takes}, where {units.count(ctx)} asked for "
        f"{units.size(n_bytes)}."
    )
    return _EXAMPLE_CTX, text
