"""What builds of llama.cpp do differently: the changes that moved layers and compute buffers.

Sources are llama.cpp's own pull requests. Where a release names the change, its build is exact;
else two builds enclose the day of the merge, and between them both ways are possible.
"""

from dataclasses import dataclass
from enum import Enum


class Change(Enum):
    """A change by the last build known to lack it and the first known to have it."""

    # LLAMA_SET_ROWS=1 by default (PR 14959, August 2025): rows are written by index
    ROW_INDEXES = (5913, 6325)
    # the output layer is offloaded first (PR 18148, merged 2025-12-18; b7394 is of 2025-12-14,
    # b7710 of 2026-01-12)
    OUTPUT_FIRST = (7459, 7460)
    # inputs for tokens and for embeddings in every graph (PR 18898, merged 2026-01-23)
    EMBEDDING_INPUT = (7774, 7827)
    # Qwen3-Next's and Qwen3.5's delta net as one operation (PR 19504 and its backends, March 2026)
    FUSED_DELTA = (8041, 8388)
    # K and V of a quantised cache are rotated (PR 21038, merged 2026-04-01)
    ROTATED_CACHE = (8388, 8651)
    # rows for drafts are taken after the last block (PR 23433, May 2026)
    HIDDEN_ROWS = (9010, 9272)
    # masks are made as F16 where flash attention reads them (PR 23764, release b9410)
    HALF_MASKS = (9409, 9410)
    # llama-server reserves logits for its slots only (PR 23861, release b9460)
    FEW_OUTPUTS = (9459, 9460)
    # CUDA reserves its F16 copies of a quantised cache (PR 23907, release b9489)
    CUDA_COPIES = (9488, 9489)
    # Metal copies the cache as F16 (PR 27390, August 2026)
    METAL_COPIES = (10434, 10760)
    # seen in the source of 11434 and not in what 10434 does: Vulkan orders nodes by more patterns
    # and by what shares memory, one gather of states, the delta net's keys normed by rms_norm and
    # scale, Mamba-2's projections flat, any number of inputs to a split
    NODES_OF_AUTUMN = (10434, 11434)
    # batches may mix tokens and embeddings (seen in 11434, not in 11342)
    MIXED_BATCHES = (11342, 11434)


@dataclass(frozen=True, slots=True)
class Era:
    """The changes that a build has."""

    changes: frozenset[Change]

    def has(self, change: Change) -> bool:
        """Tell whether the build has a change."""
        return change in self.changes


NEWEST = Era(frozenset(Change))
# of an unknown build: as it is, before mixed batches, and before each change of large terms
_MILESTONES = (11434, 11342, 9409, 5913)


def eras_of(build: int | None) -> tuple[Era, ...]:
    """Return what a build may do, the likeliest first; None = not known, so one of all ages."""
    if build is None:
        return tuple(_era(one, is_late=True) for one in _MILESTONES)
    return tuple(dict.fromkeys((_era(build, is_late=True), _era(build, is_late=False))))


def is_output_first(build: int | None) -> bool:
    """Tell whether the output layer is the first to be offloaded; unknown builds are new ones."""
    return build is None or build >= Change.OUTPUT_FIRST.value[1]


def _era(build: int, *, is_late: bool) -> Era:
    """is_late: between its two builds a change is taken to be there."""
    if is_late:
        return Era(frozenset(change for change in Change if build > change.value[0]))
    return Era(frozenset(change for change in Change if build >= change.value[1]))
