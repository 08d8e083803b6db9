"""Mapped pages of the model file are dropped from memory and read again, without any swap.

What: a mapped file may leave memory at any time, since it can be read again. When it does while
the model writes, each token waits for the drive, and the swap stays quiet.
Evidence: pages read again, or waits for pages to come from a drive, sampled while tokens were
produced, with no swap traffic. The first run after a start reads the file once: that is no fault.
Arithmetic: pages read again per second times the page size, above 16 MiB/s; that over the bytes
that the host reads per second is the share that comes from the drive.
Fix: room: other programs closed, else a smaller file. Locking pages would take the room from them.
Proof: the second run reads no pages again.
Sources: hardware.md section 2 (workingset_refault_file); advice.md claim 44 and part 3 row "Mapped
pages evicted"; llama-mmap.cpp of llama.cpp, build 11434.
"""

from app.core import units
from app.core.evidence import Evidence, MemoryWatch
from app.core.live_events import REFAULT_FROM, SWAP_FROM
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, spilling_to_swap

_NO_MMAP = ("none", "dio")
_SMALL_SHARE = 0.5  # of memory: such a file stays, unless other programs want the rest


def check(evidence: Evidence) -> Finding | None:
    """Find file pages that are read again and again while tokens are produced."""
    watch = evidence.watch
    again = watch.refault_max if watch is not None else None
    if watch is None or again is None or again < REFAULT_FROM:
        return None
    if _swaps(watch) or _is_copied(evidence):
        return None
    return Finding(
        cause="Parts of the model file are dropped from memory and read again from the drive "
        "while the model writes. The swap is not involved." + _sizes(evidence),
        cites=(
            Cite(
                f"pages read again from files: at most {units.size(again)} per second",
                source=watch.source,
            ),
        ),
        fix=_fix(evidence),
        proof="The second run reads no pages again.",
        certainty=Certainty.NOT_PROVEN if _has_room(evidence) else Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    watch = evidence.watch
    assert watch is not None  # needs() said what is missing otherwise
    if _is_copied(evidence):
        return "the file was copied into memory and not mapped"
    if _swaps(watch):
        return "pages moved to the swap, which comes first"
    again = watch.refault_max or 0.0
    return f"at most {units.size(again)} per second were read again from files while it wrote"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.watch is None:
        return "memory was not watched while the model wrote"
    return "" if evidence.watch.refault_max is not None else "this system does not count them"


def _swaps(watch: MemoryWatch) -> bool:
    moved = max(watch.swap_in_max or 0.0, watch.swap_out_max or 0.0)
    return moved >= SWAP_FROM


def _is_copied(evidence: Evidence) -> bool:
    """Tell whether the load was told to copy the file, so that no page of it is mapped."""
    return evidence.request is not None and evidence.request.load_mode in _NO_MMAP


def _has_room(evidence: Evidence) -> bool:
    """Tell whether the file is so small that another program's pages are the likelier ones."""
    memory, size = _memory(evidence), evidence.model.file_bytes if evidence.model else 0
    return bool(memory and size and size < _SMALL_SHARE * memory)


def _memory(evidence: Evidence) -> float | None:
    """Return what the program may use: the computer's memory, or a limit below it."""
    machine = evidence.machine
    known = (machine.number("memory.total"), machine.number("memory.limit")) if machine else ()
    return min((number for number in known if number is not None), default=None)


def _sizes(evidence: Evidence) -> str:
    memory = _memory(evidence)
    size = evidence.model.file_bytes if evidence.model is not None else None
    if not memory or not size:
        return ""
    return f" The file has {units.size(size)}, and {units.size(memory)} of memory may be used."


def _fix(evidence: Evidence) -> Fix:
    smaller = spilling_to_swap.smaller_file(evidence)
    if smaller is not None:
        return smaller
    return Fix(
        "Close other programs that use much memory, then measure again. If pages are still read "
        "again, take the next smaller quantisation of this model.",
        command.server(evidence) if evidence.request is not None else "",
    )


RULE = Rule(
    id="mapped-pages-evicted",
    title="The model file is read again and again",
    check=check,
    silent=silent,
    needs=needs,
)
