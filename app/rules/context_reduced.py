"""The automatic fit cut the context, because the cache for all of it does not fit.

What: where the context was not set, the fit shortens it before it moves layers, without a word at
default verbosity. Speed is healthy; long texts are cut.
Evidence: the fit's line "context size reduced from A to B", and all layers where they were.
Arithmetic: q8_0 keeps 34 bytes where f16 keeps 64, so B tokens become B x 64 / 34.
Fix: nothing where B is enough; else a q8_0 cache with the context that then fits. Quantised, it
already is: a smaller file.
Proof: n_ctx is what was asked for, and the cache lines say q8_0.
Sources: common_params_fit_impl in llama.cpp common/fit.cpp, build 11434; advice.md claims 22 to 25
and part 3 row "Context reduced by fit"; tests/data/logs/b10434-vulkan-fit-reduces-context-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LoadStory, LogEvent
from app.core.rule import Finding, Fix, Rule
from app.rules import caches, command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find a context that the fit cut while the layers stayed."""
    story = seen.load(evidence)
    reduced = story.event(Fact.FIT_CTX_REDUCED) if story is not None else None
    if story is None or reduced is None or seen.moved_by_fit(story):
        return None
    before, after = reduced.whole("before"), reduced.whole("after")
    lines = (story.event(Fact.FIT_SHORT), reduced, *caches.sizes(story))
    return Finding(
        cause=f"The context was cut from {units.count(before)} to {units.count(after)} tokens, "
        "because the KV cache for all of it does not fit. All layers stayed where they were.",
        cites=tuple(seen.cite(event) for event in lines if event is not None),
        fix=_fix(evidence, story, before, after),
        proof="n_ctx is what was asked for, and the cache lines say q8_0.",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    kept: LogEvent | None = story.event(Fact.FIT_CTX_KEPT) if story is not None else None
    if kept is not None:
        return "the context was set by hand, so the fit left it"
    if story is not None and story.event(Fact.FIT_CTX_REDUCED) is not None:
        return "layers were moved as well, which costs more"
    return "no fit decision changed the context"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


def _fix(evidence: Evidence, story: LoadStory, before: int, after: int) -> Fix:
    if caches.is_quantised(story):
        return Fix(
            f"If {units.count(after)} tokens are enough, change nothing. For more, take a smaller "
            "file of the same model, or close programs that hold device memory."
        )
    longest = min(before, int(after / caches.Q8_0_SHARE) // caches.STEP * caches.STEP)
    return command.fix(
        evidence,
        f"If {units.count(after)} tokens are enough, change nothing. For more, keep the cache as "
        f"q8_0: about {units.count(longest)} tokens then fit. It needs flash attention, and "
        "rounds keys and values a little.",
        ctx=longest,
        cache_type_k="q8_0",
        cache_type_v="q8_0",
    )


RULE = Rule(
    id="context-reduced",
    title="The context was cut to fit",
    check=check,
    silent=silent,
    needs=needs,
)
