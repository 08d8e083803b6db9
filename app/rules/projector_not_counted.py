"""Out of memory after the load: the build's fit did not count the part that looks at pictures.

What: builds with the automatic fit before April 2026 fill the device without the projector
(--mmproj) and its buffer; the first picture then finds no memory.
Evidence: a projector, such a build or a log without the projector's line, and a fit that was
content, on one card with little to spare. Where requests were answered and no memory was refused it
is only possible.
Arithmetic: the projector's file and its buffer, above the margin that the fit leaves.
Fix: update; until then a larger margin. Proof: the projector's line comes before the fit's.
Sources: llama.cpp issues 18181 and 19980, pull request 21489 (merged April 2026).
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LoadStory
from app.core.rule import Certainty, Cite, Finding, Rule
from app.rules import command, seen

_FIRST_COUNTED = 8660  # about: pull request 21489 is of 5 April 2026, b8672 of that month has it
_FIRST_FIT = 7400  # December 2025
_MARGIN_MIB = 4096


def check(evidence: Evidence) -> Finding | None:
    """Find a projector that the fit did not count, and memory that ran out later."""
    request, story = evidence.request, seen.load(evidence)
    if request is None or not request.projector_path or story is None:
        return None
    if not _is_uncounted(evidence, story) or _has_room(evidence, story):
        return None
    decided = story.event(Fact.FIT_ENOUGH) or story.event(Fact.FIT_DONE)
    error = evidence.log.last(Fact.ERROR_MEMORY) if evidence.log else None
    number = seen.build(evidence)
    said = f"build {number}" if number else "this build"
    return Finding(
        cause=f"The automatic fit of {said} does not count the vision part (--mmproj) and its "
        "buffer. It fills the device without them, and the first picture finds no memory. That "
        "the server started does not mean that all of it fits.",
        cites=(
            *(seen.cite(line) for line in (error, decided) if line is not None),
            Cite(f"{said}: pictures through {request.projector_path}", source="command"),
        ),
        fix=command.fix(
            evidence,
            "Update llama.cpp: builds since April 2026 count it. Until then leave the size of the "
            f"vision file and its buffer free, by a larger margin: {units.count(_MARGIN_MIB)} MiB.",
            fit_target_mib=_MARGIN_MIB,
        ),
        proof="The line “estimated memory usage of mmproj” comes before the fit's lines, and a "
        "picture is answered.",
        certainty=Certainty.NOT_PROVEN if _goes_well(evidence, story) else Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.request is None or not evidence.request.projector_path:
        return ""
    return "the automatic fit counts the vision part, or was not used"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.request is None:
        return "the command is not known"
    return "" if seen.load(evidence) is not None else "no log of a load"


def _is_uncounted(evidence: Evidence, story: LoadStory) -> bool:
    decided = any(story.event(fact) for fact in (Fact.FIT_ENOUGH, Fact.FIT_DONE))
    counted = evidence.log is not None and evidence.log.last(Fact.PROJECTOR_MEMORY) is not None
    number = seen.build(evidence)
    return decided and not counted and number is not None and _FIRST_FIT <= number < _FIRST_COUNTED


def _goes_well(evidence: Evidence, story: LoadStory) -> bool:
    """Tell whether requests were answered, and no memory was refused."""
    return bool(story.rates or evidence.runs) and not seen.memory_refused(evidence)


def _has_room(evidence: Evidence, story: LoadStory) -> bool:
    """Tell whether the one card was left with enough free memory for any vision part.

    With several cards it lies on one of them, and what is free on all of them together says little.
    """
    enough = story.event(Fact.FIT_ENOUGH)
    if enough is None or "left_mib" not in enough.values or len(seen.gpu_names(evidence)) != 1:
        return False
    return enough.number("left_mib") >= enough.number("target_mib") + _MARGIN_MIB


RULE = Rule(
    id="projector-not-counted",
    title="The vision part was not counted",
    check=check,
    silent=silent,
    needs=needs,
)
