"""The KV cache took the room of layers: with a smaller cache all of them would fit.

What: cache and layers compete for the same memory. Where the context was set, or is as short as
the fit goes, layers move to the host for it.
Evidence: the fit's line "cannot meet", an offload line below M/M, and cache lines that hold more
than what was missing.
Arithmetic: the missing MiB over the cache's MiB per cell = the cells to give up; q8_0 keeps
34 bytes where f16 keeps 64.
Fix: a shorter context, else a q8_0 cache.
Proof: the KV line is smaller and all layers are back.
Sources: common_params_fit_impl in llama.cpp common/fit.cpp, build 11434; seed 001 task 5 row 6;
advice.md claims 22 to 25; tests/data/logs/b10434-vulkan-fit-moves-layers-ctx-set-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LoadStory
from app.core.rule import Finding, Fix, Rule
from app.rules import caches, command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find a fit decision that gave up layers for a cache that could be smaller."""
    story = seen.load(evidence)
    if story is None or not seen.moved_by_fit(story) or not caches.gives_room(story):
        return None
    assert story.offload_line is not None
    n, m = story.offload_line
    asked = f" for the {units.count(story.n_ctx)} tokens of context" if story.n_ctx else ""
    kept = story.event(Fact.FIT_CTX_KEPT)
    why = " The context was set by hand, so layers had to go instead." if kept else ""
    return Finding(
        cause=f"{m - n} of {m} layers were moved to system memory, because they do not fit "
        f"beside the KV cache ({units.mib(caches.n_bytes(story))}{asked}).{why}",
        cites=tuple(seen.cite(event) for event in seen.fit_lines(story)),
        fix=_fix(evidence, story),
        proof=f"The fit says “no changes needed”, and the line says “offloaded {m}/{m} layers”.",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if story is not None and story.event(Fact.FIT_ENOUGH) is not None:
        return "the automatic fit needed no changes"
    if story is not None and seen.moved_by_fit(story):
        return "a smaller cache would not bring the layers back"
    return "no fit decision moved layers"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


def _fix(evidence: Evidence, story: LoadStory) -> Fix:
    doubt = seen.doubt_of_layers(evidence)
    shorter = caches.fitting_context(story)
    if shorter is not None:
        return command.fix(
            evidence,
            f"Use a shorter context: with about {units.count(shorter)} tokens all layers fit, "
            f"calculated from the cache lines of this log.{doubt}",
            ctx=shorter,
            ngl=None,
        )
    return command.fix(
        evidence,
        "Keep the cache as q8_0. It then takes about half. It needs flash attention, and "
        f"rounds keys and values a little.{doubt}",
        ngl=None,
        cache_type_k="q8_0",
        cache_type_v="q8_0",
    )


RULE = Rule(
    id="cache-too-large",
    title="The KV cache took the room",
    check=check,
    silent=silent,
    needs=needs,
)
