"""The server's memory grows over hours, by the caches of earlier texts that it keeps.

What: llama-server keeps the KV state of finished requests in system memory, up to 8192 MiB by
itself. That is no leak, and the KV cache on the device does not grow.
Evidence: the line "cache state" with at least 1 GiB, and the runtime's memory grown by about that,
or memory refused later. Without such a line growth of at least 1 GiB makes it likely.
Arithmetic: MiB of the line; growth of the process.
Fix: a smaller limit. It costs speed when chats are switched. Proof: the state below the limit.
Sources: advice.md claims 20, 21 and 98; llama.cpp issue 25740, Ollama issue 18264.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import seen

_LARGE = 1024  # MiB
_LIMIT_MIB = 1024
_KEEP_TEXTS = ("llama.cpp", "ollama", "lm-studio", "jan")  # they run llama-server
_SHARE = 0.5  # of the line's MiB; less growth has another cause


def check(evidence: Evidence) -> Finding | None:
    """Find earlier texts that take the memory."""
    line = _largest(evidence)
    if line is None:
        return _by_growth(evidence)
    if line.number("mib") < _LARGE:
        return None
    growth = evidence.watch.own_growth_bytes if evidence.watch is not None else None
    is_grown = growth is not None and growth >= _SHARE * line.number("mib") * units.MIB
    if not is_grown and not seen.memory_refused(evidence):
        return None
    grown = (
        (Cite(f"the runtime grew by {units.size(growth)}", source="memory watch"),)
        if is_grown
        else ()
    )
    return Finding(
        cause=f"The server keeps the caches of {line.whole('prompts')} earlier texts in system "
        f"memory: {units.mib(int(line.number('mib') * units.MIB), 0)}, up to "
        f"{units.mib(int(line.number('limit_mib') * units.MIB), 0)}. That is meant, no leak.",
        cites=(seen.cite(line), *grown),
        fix=_fix(evidence),
        proof=f"The line “cache state” stays below {units.count(_LIMIT_MIB)} MiB.",
        certainty=Certainty.LIKELY,
    )


def _by_growth(evidence: Evidence) -> Finding | None:
    """Tell of growth alone, where the program keeps such caches and no log shows them."""
    growth = evidence.watch.own_growth_bytes if evidence.watch is not None else None
    if growth is None or growth < _LARGE * units.MIB or seen.runtime(evidence) not in _KEEP_TEXTS:
        return None
    return Finding(
        cause=f"The program's own memory grew by {units.size(growth)} after the load. Most likely "
        "it keeps the caches of earlier texts in system memory, up to 8 GiB by itself. That is "
        "meant.",
        cites=(Cite(f"the runtime grew by {units.size(growth)}", source="memory watch"),),
        fix=_fix(evidence),
        proof="It grows no further than the limit.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    line = _largest(evidence)
    growth = evidence.watch.own_growth_bytes if evidence.watch is not None else None
    if line is None and growth is not None:
        return f"the program's own memory grew by {units.size(growth)}"
    if line is None:
        return ""
    return f"earlier texts take {line.number('mib'):.0f} MiB, and memory did not run out"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    has_growth = evidence.watch is not None and evidence.watch.own_growth_bytes is not None
    return "" if evidence.log is not None or has_growth else "no log of requests"


def _largest(evidence: Evidence) -> LogEvent | None:
    lines = evidence.log.all(Fact.PROMPT_CACHE) if evidence.log else ()
    return max(lines, key=lambda line: line.number("mib"), default=None)


def _fix(evidence: Evidence) -> Fix:
    is_ollama = seen.runtime(evidence) == "ollama"
    return Fix(
        f"Limit what it keeps to {units.count(_LIMIT_MIB)} MiB; 0 keeps nothing. Going back to an "
        "earlier chat then reads it again.",
        f"LLAMA_ARG_CACHE_RAM={_LIMIT_MIB}" if is_ollama else f"-cram {_LIMIT_MIB}",
    )


RULE = Rule(
    id="memory-grows",
    title="Earlier texts fill the system memory",
    check=check,
    silent=silent,
    needs=needs,
)
