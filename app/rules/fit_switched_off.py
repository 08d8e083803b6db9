"""A setting made by hand switched the automatic fit off, and the load is too large.

What: the fit may change the layers and the context only while both are left to it. A number
given for one forbids that part; with both given it gives up and loads the plan as it is.
Evidence: "failed to fit params: ... already set by user", with more projected than is free.
Arithmetic: projected - free + the reserve = what must go (the line says it).
Fix: remove that one setting, keep the other.
Proof: "successfully fit params", and the device's sum is below its free memory.
Sources: common_params_fit_impl in llama.cpp common/fit.cpp, build 11434; placement.md 4;
advice.md part 3 row "Explicit setting switched fit off"; llamacpp-rocm issue 79.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LoadStory, LogEvent
from app.core.rule import Finding, Fix, Rule
from app.rules import command, seen

# the setting of LoadRequest that a name in the line stands for, and its flag
_FIELDS = {"n_gpu_layers": ("ngl", "-ngl"), "tensor_split": ("tensor_split", "-ts")}


def check(evidence: Evidence) -> Finding | None:
    """Find a fit that gave up because of a setting, for a load that does not fit."""
    story = seen.load(evidence)
    failed = story.event(Fact.FIT_FAILED) if story else None
    if story is None or failed is None:
        return None
    setting, value = failed.values.get("setting"), failed.values.get("value")
    if setting is None or not _is_too_large(story):
        return None
    need = _need(story)
    kept = story.event(Fact.FIT_CTX_KEPT)
    asked = f" ({value})" if value else ""
    lines = (failed, kept, story.event(Fact.FIT_SHORT), story.event(Fact.FIT_PROJECTED))
    return Finding(
        cause=f"A setting made by hand switched the automatic fit off: {setting}{asked}. "
        f"The load is {units.mib(need, 0) if need else 'some memory'} too large for the device, "
        "and it may move nothing." + (" The context is set by hand too." if kept else ""),
        cites=tuple(seen.cite(line) for line in lines if line is not None),
        fix=_fix(evidence, str(setting), need, kept),
        proof="The line “successfully fit params to free device memory”, and no error after it.",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if story is not None and story.event(Fact.FIT_FAILED) is not None:
        return "the automatic fit gave up, but the load fits as it was asked for"
    return "no setting switched the automatic fit off"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if seen.load(evidence) is not None else "no log of a load"


def _is_too_large(story: LoadStory) -> bool:
    projected = story.event(Fact.FIT_PROJECTED)
    if projected is None:
        return False
    return projected.number("used_mib") > projected.number("free_mib")


def _need(story: LoadStory) -> int | None:
    short = story.event(Fact.FIT_SHORT)
    if short is None or "need_mib" not in short.values:
        return None
    return int(short.number("need_mib") * units.MIB)


def _fix(evidence: Evidence, name: str, need: int | None, kept: LogEvent | None) -> Fix:
    field, flag = _FIELDS.get(name, ("ngl", f"the setting of {name}"))
    keep = f" and keep the context of {units.count(kept.whole('n'))} tokens" if kept else ""
    gap = f" {units.mib(need, 0)} must leave the device." if need else ""
    changes: dict[str, object] = {field: () if field == "tensor_split" else None}
    if kept is not None:
        changes["ctx"] = kept.whole("n")
    return command.fix(
        evidence,
        f"Remove {flag}{keep}: the program then moves as many layers as it must.{gap}",
        **changes,
    )


RULE = Rule(
    id="fit-switched-off",
    title="A setting switched the automatic fit off",
    check=check,
    silent=silent,
    needs=needs,
)
