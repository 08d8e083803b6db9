"""The KV cache took the room: fit moved layers for the context, or cut the context.

What: cache and layers compete for the same memory. Where the context was set, layers go to the
host; where it was not, the context is shortened without a word at default verbosity.
Evidence: the fit's lines "context size reduced from A to B", or "context size set by user" with
"cannot meet" and an offload line below M/M.
Arithmetic: the missing MiB over the cache's MiB per cell = the cells to give up; q8_0 keeps
34 bytes where f16 keeps 64.
Fix: set by user: a shorter context, else a q8_0 cache, else a smaller file. Reduced: nothing if B
is enough, else a q8_0 cache with the context that then fits.
Proof: the KV line is smaller and all layers are back, or n_ctx is what was asked.
Sources: common_params_fit_impl in llama.cpp common/fit.cpp, build 11434; seed 001 task 5 row 6;
advice.md claims 22 to 25; tests/data/logs/b10434-vulkan-fit-*.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LoadStory, LogEvent, Role
from app.core.rule import Finding, Fix, Rule
from app.rules import command, seen

_Q8_0_SHARE = 34 / 64  # a block of 32 values: 34 bytes as q8_0, 64 as f16
_STEP = 256  # llama.cpp pads contexts to this (llama_context, build 11434)
_SMALLEST_USEFUL = 2048


def check(evidence: Evidence) -> Finding | None:
    """Find a fit decision that gave up layers or context for the cache."""
    story = seen.load(evidence)
    if story is None:
        return None
    reduced = story.event(Fact.FIT_CTX_REDUCED)
    if seen.moved_by_fit(story):
        return _moved(evidence, story, reduced)
    return None if reduced is None else _reduced(evidence, story, reduced)


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if story is not None and story.event(Fact.FIT_ENOUGH) is not None:
        return "the automatic fit needed no changes"
    return "no fit decision changed the context or moved layers"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


def _moved(evidence: Evidence, story: LoadStory, reduced: LogEvent | None) -> Finding:
    assert story.offload_line is not None
    n, m = story.offload_line
    kept = story.event(Fact.FIT_CTX_KEPT)
    cache = sum(buffer.n_bytes for buffer in story.buffers if buffer.role is Role.KV)
    asked = f" for the {units.count(story.n_ctx)} tokens of context" if story.n_ctx else ""
    why = " The context was set by hand, so layers had to go instead." if kept else ""
    lines = (
        story.event(Fact.FIT_SHORT), reduced, kept,
        story.event(Fact.FIT_DEVICE), story.event(Fact.OFFLOADED),
    )  # fmt: skip
    return Finding(
        cause=f"{m - n} of {m} layers were moved to system memory, because they do not fit "
        f"beside the KV cache ({units.mib(cache)}{asked}).{why}",
        cites=tuple(seen.cite(event) for event in lines if event is not None),
        fix=_room_fix(evidence, story),
        proof=f"The fit says “no changes needed”, and the line says “offloaded {m}/{m} layers”.",
    )


def _room_fix(evidence: Evidence, story: LoadStory) -> Fix:
    need = _missing_bytes(story)
    shorter = _fitting_context(story, need)
    if shorter is not None:
        return command.fix(
            evidence,
            f"Use a shorter context: with about {units.count(shorter)} tokens all layers fit, "
            f"calculated from the cache lines of this log.{_doubt(evidence)}",
            ctx=shorter,
            ngl=None,
        )
    cache = sum(buffer.n_bytes for buffer in story.buffers if buffer.role is Role.KV)
    if not _is_quantised(story) and need is not None and cache * (1 - _Q8_0_SHARE) >= need:
        return command.fix(
            evidence,
            "Keep the cache as q8_0. It then takes about half. It needs flash attention, and "
            f"rounds keys and values a little.{_doubt(evidence)}",
            ngl=None,
            cache_type_k="q8_0",
            cache_type_v="q8_0",
        )
    if need is None:
        return Fix("Use a shorter context, with -c. The cache shrinks with it.")
    return Fix(
        f"Take a smaller file of the same model: {units.size(need)} too much cannot come from the "
        "cache alone. The next quantisation down is the first to try."
    )


def _doubt(evidence: Evidence) -> str:
    """Say that more layers need not help where the device works in system memory."""
    if not seen.shares_system_memory(evidence):
        return ""
    return (
        " This device works in system memory, so layers on it may not be faster: measure both, and "
        "keep the faster one."
    )


def _reduced(evidence: Evidence, story: LoadStory, reduced: LogEvent) -> Finding:
    before, after = reduced.whole("before"), reduced.whole("after")
    lines = (story.event(Fact.FIT_SHORT), reduced, *story_sizes(story))
    return Finding(
        cause=f"The context was cut from {units.count(before)} to {units.count(after)} tokens, "
        "because the KV cache for all of it does not fit. All layers stayed where they were.",
        cites=tuple(seen.cite(event) for event in lines if event is not None),
        fix=_longer_fix(evidence, story, before, after),
        proof="n_ctx is what was asked for, and the cache lines say q8_0.",
        title="The context was cut to fit",
    )


def story_sizes(story: LoadStory) -> tuple[LogEvent, ...]:
    """Return the lines that give the sizes of this load's caches."""
    return tuple(
        event for event in story.events if event.fact is Fact.KV_SIZE and not event.is_projection
    )


def _longer_fix(evidence: Evidence, story: LoadStory, before: int, after: int) -> Fix:
    if _is_quantised(story):
        return Fix(
            f"If {units.count(after)} tokens are enough, change nothing. For more, take a smaller "
            "file of the same model, or close programs that hold device memory."
        )
    longest = min(before, int(after / _Q8_0_SHARE) // _STEP * _STEP)
    return command.fix(
        evidence,
        f"If {units.count(after)} tokens are enough, change nothing. For more, keep the cache as "
        f"q8_0: about {units.count(longest)} tokens then fit. It needs flash attention, and "
        "rounds keys and values a little.",
        ctx=longest,
        cache_type_k="q8_0",
        cache_type_v="q8_0",
    )


def _is_quantised(story: LoadStory) -> bool:
    return (story.cache_type_k or "f16") not in ("f16", "f32", "bf16")


def _missing_bytes(story: LoadStory) -> int | None:
    """Return how much too large the load was for the device; the fit says so first."""
    short = next((event for event in story.events if event.fact is Fact.FIT_SHORT), None)
    if short is None or "need_mib" not in short.values:
        return None
    return int(short.number("need_mib") * units.MIB)


def _fitting_context(story: LoadStory, need: int | None) -> int | None:
    """Return the context with which the missing bytes are free; None when it is too short to use.

    Only caches with as many cells as the context shrink with it: sliding windows do not.
    """
    if need is None or story.n_ctx is None:
        return None
    per_cell = sum(
        event.number("mib") * units.MIB / event.whole("cells")
        for event in story_sizes(story)
        if event.whole("cells") == story.n_ctx
    )
    if not per_cell:
        return None
    left = int(story.n_ctx - need / per_cell) // _STEP * _STEP
    return left if left >= _SMALLEST_USEFUL else None


RULE = Rule(
    id="cache-too-large",
    title="The KV cache took the room",
    check=check,
    silent=silent,
    needs=needs,
)
