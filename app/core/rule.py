"""What a rule is and what it may say: a finding with evidence, one fix and its proof."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from app.core.evidence import Evidence


class Certainty(Enum):
    """How far the evidence carries."""

    PROVEN = "proven"
    LIKELY = "likely"
    NOT_PROVEN = "not-proven"


@dataclass(frozen=True, slots=True)
class Cite:
    """The evidence: a log line by number, or a measured fact with its source and line None."""

    text: str
    line: int | None = None
    source: str = "log"


Change = tuple[tuple[str, object], ...]  # fields of LoadRequest and their new values


@dataclass(frozen=True, slots=True)
class Fix:
    """The one change to make first, and the command for the user's runtime ("" = no command)."""

    text: str
    command: str = ""
    change: Change = ()  # the same as options of a load; empty = only the user can do it


@dataclass(frozen=True, slots=True)
class Finding:
    """One named fault; rule_id is filled in by the judge."""

    cause: str
    cites: tuple[Cite, ...]
    fix: Fix
    proof: str  # which line must change, and how
    certainty: Certainty = Certainty.PROVEN
    rule_id: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault and how to see it; silent says why it does not hold, "" = beside the point."""

    id: str
    title: str
    check: Callable[[Evidence], Finding | None]
    silent: Callable[[Evidence], str] = field(default=lambda _evidence: "")
    needs: Callable[[Evidence], str] = field(
        default=lambda _evidence: ""
    )  # what is missing to check
    order: int = 1000
    rests_on_rate: bool = False  # not asked while the machine was busy


@dataclass(frozen=True, slots=True)
class Ruled:
    """A rule that did not name the fault, and why: ruled out, or not checked."""

    rule_id: str
    title: str
    because: str
    is_near: bool = False  # a rival of what was found, or what the symptom points at


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The judge's answer: the verdict is the first matching rule, None = nothing found."""

    verdict: Finding | None
    also: tuple[Finding, ...] = ()
    ruled_out: tuple[Ruled, ...] = ()
    not_checked: tuple[Ruled, ...] = ()
