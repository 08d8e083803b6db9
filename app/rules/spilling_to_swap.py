"""Memory spills: pages move to the swap and back while the model writes.

What: each token waits for the drive. Pages of a mapped file that are read again without any swap
are a fault of their own (mapped_pages_evicted.py).
Evidence: swap traffic sampled while tokens were produced. A swap level alone says nothing: old
idle pages stay there for days.
Arithmetic: pages in or out per second times the page size, above 1 MiB/s (idle traffic of other
programs stays below).
Fix: fewer bytes. What is largest: the file, the context, or other programs.
Proof: the traffic is 0 while it writes.
Sources: hardware.md section 2; advice.md part 3 row "Swap"; seed 001 task 5.
"""

from app.core import units
from app.core.evidence import Evidence, MemoryWatch
from app.core.live_events import SWAP_FROM
from app.core.log import Role
from app.core.rule import Cite, Finding, Fix, Rule
from app.rules import command, seen

_LARGE_SHARE = 0.9
_CACHE_SHARE = 0.25


def check(evidence: Evidence) -> Finding | None:
    """Find memory that moves to a drive and back while tokens are produced."""
    watch = evidence.watch
    if watch is None:
        return None
    moved = max(watch.swap_in_max or 0.0, watch.swap_out_max or 0.0)
    if moved >= SWAP_FROM:
        return Finding(
            cause="Memory is too small for what runs: pages move to the swap on the drive and "
            "back while the model writes.",
            cites=_swap_cites(watch),
            fix=_fix(evidence),
            proof="Swap in and out stay at 0 while it writes.",
        )
    return None


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    watch = evidence.watch
    assert watch is not None  # needs() said what is missing otherwise
    moved = max(watch.swap_in_max or 0.0, watch.swap_out_max or 0.0)
    return f"at most {units.size(moved)} per second went to or from the swap while it wrote"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    watch = evidence.watch
    if watch is None:
        return "memory was not watched while the model wrote"
    if watch.swap_in_max is None and watch.swap_out_max is None:
        return "this system did not tell its swap traffic"
    return ""


def _swap_cites(watch: MemoryWatch) -> tuple[Cite, ...]:
    found = [
        _cite(watch, "swap out", watch.swap_out_max),
        _cite(watch, "swap in", watch.swap_in_max),
    ]
    before, after = watch.swap_used_before_bytes, watch.swap_used_after_bytes
    if before is not None and after is not None:
        text = f"swap used: {units.size(before)} before, {units.size(after)} after"
        found.append(Cite(text, source=watch.source))
    return tuple(found)


def _cite(watch: MemoryWatch, what: str, per_s: float | None) -> Cite:
    size = units.size(per_s) + (" per second" if per_s is not None else "")
    return Cite(f"{what}: at most {size}", source=watch.source)


def smaller_file(evidence: Evidence) -> Fix | None:
    """Return the fix for a file that is about as large as memory, None when it is smaller."""
    memory = evidence.machine.number("memory.total") if evidence.machine else None
    size = evidence.model.file_bytes if evidence.model else None
    if not memory or not size or size <= _LARGE_SHARE * memory:
        return None
    return Fix(
        f"Take a smaller file of the same model: it has {units.size(size)}, this computer "
        f"{units.size(memory)} of memory. The next quantisation down is the first to try."
    )


def _fix(evidence: Evidence) -> Fix:
    smaller = smaller_file(evidence)
    if smaller is not None:
        return smaller
    memory = evidence.machine.number("memory.total") if evidence.machine else None
    story = seen.load(evidence)
    cache = sum(b.n_bytes for b in story.buffers if b.role is Role.KV) if story else 0
    if memory and story and story.n_ctx and cache > _CACHE_SHARE * memory:
        half = max(256, story.n_ctx // 2 // 256 * 256)
        return Fix(
            f"Halve the context: its cache alone takes {units.size(cache)}.",
            command.server(evidence, ctx=half),
        )
    return Fix("Close other programs that use much memory, then measure again.")


RULE = Rule(
    id="spilling-to-swap",
    title="Memory spills to the drive",
    check=check,
    silent=silent,
    needs=needs,
)
