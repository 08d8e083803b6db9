"""What several rules ask of the KV cache: its bytes, its cells, and what a change would free."""

from app.core import units
from app.core.log import BufferKind, Fact, LoadStory, LogEvent, Role

Q8_0_SHARE = 34 / 64  # a block of 32 values: 34 bytes as q8_0, 64 as f16
STEP = 256  # llama.cpp pads contexts to this (llama_context, build 11434)
SMALLEST_USEFUL = 2048


def n_bytes(story: LoadStory) -> int:
    """Return the bytes of all caches of the load."""
    return sum(buffer.n_bytes for buffer in story.buffers if buffer.role is Role.KV)


def sizes(story: LoadStory) -> tuple[LogEvent, ...]:
    """Return the lines that give the sizes of this load's caches."""
    return tuple(
        event for event in story.events if event.fact is Fact.KV_SIZE and not event.is_projection
    )


def is_quantised(story: LoadStory) -> bool:
    """Tell whether the cache is kept in fewer bits than f16."""
    return (story.cache_type_k or "f16") not in ("f16", "f32", "bf16")


def missing_bytes(story: LoadStory) -> int | None:
    """Return how much too large the load was for the device; the fit says so first."""
    short = next((event for event in story.events if event.fact is Fact.FIT_SHORT), None)
    if short is None or "need_mib" not in short.values:
        return None
    return int(short.number("need_mib") * units.MIB)


def fitting_context(story: LoadStory) -> int | None:
    """Return the context with which the missing bytes are free; None when it is too short to use.

    Only caches with as many cells as the context shrink with it: sliding windows do not.
    """
    need = missing_bytes(story)
    if need is None or story.n_ctx is None:
        return None
    per_cell = sum(
        event.number("mib") * units.MIB / event.whole("cells")
        for event in sizes(story)
        if event.whole("cells") == story.n_ctx
    )
    if not per_cell:
        return None
    left = int(story.n_ctx - need / per_cell) // STEP * STEP
    return left if left >= SMALLEST_USEFUL else None


def gives_room(story: LoadStory) -> bool:
    """Tell whether a shorter or a q8_0 cache alone would bring the layers back."""
    need = missing_bytes(story)
    if need is None:  # then what lies outside has to come back
        need = story.bytes_of(BufferKind.HOST, Role.WEIGHTS)
    is_enough = not is_quantised(story) and n_bytes(story) * (1 - Q8_0_SHARE) >= need
    return is_enough or fitting_context(story) is not None
