"""Whether a change cured the fault: the evidence line changed, and the rates are apart."""

from dataclasses import dataclass
from enum import Enum

from app.core import units
from app.core.bench import BenchRun, Change, Test, compare
from app.core.evidence import Evidence
from app.core.log import BufferKind, LoadStory, LogEvent, Role
from app.core.request import LoadRequest, changed
from app.core.rule import Change as OptionChange
from app.core.rule import Cite, Diagnosis, Finding


class Verdict(Enum):
    """What the second run says about the fix."""

    PROVEN = "proven"
    LOADS = "proven-loads"  # it did not load before, so there was no rate to compare
    ONLY_LINE = "line-only"  # the line changed, the rates do not differ
    SLOWER = "slower"  # the intervals are apart the wrong way, whatever the line says
    ONLY_RATE = "rate-only"  # faster, but the evidence line is as before
    NOTHING = "nothing-changed"
    UNDECIDED = "undecided"  # too few samples, or other programs computed meanwhile
    FAILED = "second-run-failed"


@dataclass(frozen=True, slots=True)
class Pair:
    """One observation of both runs in words; lines are those of their logs, None = no line."""

    what: str
    before: str
    after: str
    line_before: int | None = None
    line_after: int | None = None

    @property
    def is_changed(self) -> bool:
        """Tell whether the two runs differ in it."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class RatePair:
    """One rate of both runs."""

    before: BenchRun
    after: BenchRun
    change: Change

    @property
    def ratio(self) -> float | None:
        """Return after / before, None when there is nothing to divide by."""
        return self.after.mean_tps / self.before.mean_tps if self.before.mean_tps else None


@dataclass(frozen=True, slots=True)
class Proof:
    """Before and after side by side, and what follows from it."""

    finding: Finding
    verdict: Verdict
    sentence: str
    is_line_changed: bool
    pairs: tuple[Pair, ...]
    rates: tuple[RatePair, ...]
    left: tuple[Finding, ...]  # what the second run still shows

    @property
    def is_proven(self) -> bool:
        """Tell whether the fix is proven."""
        return self.verdict in (Verdict.PROVEN, Verdict.LOADS)


TITLES = {
    Verdict.PROVEN: "Proven",
    Verdict.LOADS: "Proven",
    Verdict.ONLY_LINE: "The line changed, the speed did not",
    Verdict.SLOWER: "It got slower",
    Verdict.ONLY_RATE: "Faster for another reason",
    Verdict.NOTHING: "Not proven",
    Verdict.UNDECIDED: "Not decided",
    Verdict.FAILED: "The second load failed",
}
TAKEN_BACK = "Keep your setting: the change was measured here, and it got slower."
_NOT_SEEN = "no such line"
_CHANGED_NOT_FASTER = "The evidence line changed, but the rates do not differ by interval."


def why_not(evidence: Evidence, finding: Finding | None, *, is_own: bool = True) -> str:
    """Say why this fix cannot be tried here, "" when it can."""
    if finding is None:
        return "Nothing was found, so there is nothing to prove."
    if finding.fix.text == TAKEN_BACK:
        return TAKEN_BACK
    if evidence.outcome is not None and not finding.fix.change and is_own:
        return "This change cannot be made by an option of a new load, so only you can make it."
    return why_no_second(evidence, is_own=is_own)


def why_no_second(evidence: Evidence, *, is_own: bool = True) -> str:
    """Say why no second run can be made and compared, "" when it can."""
    if not is_own:
        return "This is another computer's evidence; a proof needs that computer."
    if evidence.outcome is None or evidence.request is None or evidence.model is None:
        return "This program did not load the model itself. Run Diagnose with the model first."
    if not evidence.runs and evidence.outcome.is_ready:
        return "No rate was measured before the change, so there is nothing to compare with."
    return ""


def prove(evidence: Evidence, finding: Finding, after: Diagnosis) -> Proof | None:
    """Compare both runs of evidence; after is what the judge says of the second one.

    A finding without a rule is a ranked change: then the cited lines themselves must differ.
    """
    second = evidence.second()
    if second is None:
        return None
    pairs = _pairs(evidence, second, finding)
    if finding.rule_id:
        is_gone = any(ruled.rule_id == finding.rule_id for ruled in after.ruled_out)
        is_line_changed = is_gone and (
            any(pair.is_changed for pair in pairs) or all(c.line is None for c in finding.cites)
        )
    else:
        lines = {cite.line for cite in finding.cites}
        is_line_changed = any(pair.is_changed for pair in pairs if pair.line_before in lines)
    rates = _rates(evidence, second)
    verdict = _verdict(evidence, second, rates, is_line_changed=is_line_changed)
    left = (after.verdict, *after.also)
    return Proof(
        finding=finding,
        verdict=verdict,
        sentence=_sentence(verdict, rates, second),
        is_line_changed=is_line_changed,
        pairs=pairs,
        rates=rates,
        left=tuple(one for one in left if one is not None),
    )


def is_taken_back(evidence: Evidence, change: OptionChange) -> bool:
    """Tell whether the second run tried this change of the load, and got slower."""
    again, second = evidence.again, evidence.second()
    if again is None or second is None or not change:
        return False
    if changed(evidence.request or LoadRequest(), change) != again.request:
        return False
    rates = _rates(evidence, second)
    return _verdict(evidence, second, rates, is_line_changed=False) is Verdict.SLOWER


def span(run: BenchRun) -> str:
    """Return the 95 % interval of a rate in words."""
    low, high = run.low_tps, run.high_tps
    return units.measured_interval(low, high) if low is not None and high is not None else "one run"


def _verdict(
    first: Evidence, second: Evidence, rates: tuple[RatePair, ...], *, is_line_changed: bool
) -> Verdict:
    if second.outcome is None or not second.outcome.is_ready:
        return Verdict.FAILED
    if first.outcome is not None and not first.outcome.is_ready:
        return Verdict.LOADS if is_line_changed else Verdict.NOTHING
    change = _decisive(rates)
    if change in (Change.UNDECIDED, Change.UNSURE) or _busy(
        rates
    ):  # a disturbed run proves nothing, either way
        return Verdict.UNDECIDED
    if change is Change.SLOWER:
        return Verdict.SLOWER
    if change is Change.FASTER:
        return Verdict.PROVEN if is_line_changed else Verdict.ONLY_RATE
    return Verdict.ONLY_LINE if is_line_changed else Verdict.NOTHING


def _busy(rates: tuple[RatePair, ...]) -> str:
    """Return what the benchmark runner noted of other programs, "" = the machine was quiet."""
    runs = (run for pair in rates for run in (pair.before, pair.after))
    return next((run.busy for run in runs if run.busy), "")


def _decisive(rates: tuple[RatePair, ...]) -> Change:
    """Return the change of generation; where it does not differ, that of the prompt."""
    by_test = {pair.before.test: pair.change for pair in rates}
    writing = by_test.get(Test.GENERATION, Change.UNDECIDED)
    reading = by_test.get(Test.PROMPT, Change.UNDECIDED)
    if writing in (Change.FASTER, Change.SLOWER):
        return writing
    return reading if reading in (Change.FASTER, Change.SLOWER) else writing


def _sentence(verdict: Verdict, rates: tuple[RatePair, ...], second: Evidence) -> str:
    told = "; ".join(_told(pair) for pair in rates)
    if verdict is Verdict.PROVEN:
        return f"Proven: the evidence line changed, and the intervals are apart. {told}."
    if verdict is Verdict.LOADS:
        return "Proven: the model loads now. There was no rate before to compare with."
    if verdict is Verdict.FAILED:
        why = second.outcome.exit_text if second.outcome is not None else "it was not loaded"
        return f"The load with the change failed: {why}"
    if verdict is Verdict.SLOWER:
        return f"Undo the change, keep your setting. {told}."
    if verdict is Verdict.ONLY_LINE:
        return f"{_CHANGED_NOT_FASTER} {told}."
    if verdict is Verdict.ONLY_RATE:
        return f"It is faster, but the evidence line is as before: something else changed. {told}."
    if verdict is Verdict.NOTHING:
        return f"Not proven: the evidence line is as before. {told}".rstrip() + "."
    why = _busy(rates) or "there are too few samples for an interval"
    if not _busy(rates) and _decisive(rates) is Change.UNSURE:
        why = f"the intervals are too wide to tell ({told})"
    return f"Not decided, because {why}. Measure again on a quiet machine."


def _told(pair: RatePair) -> str:
    ratio = pair.ratio
    times = f", {units.times(ratio)}" if ratio else ""
    return (
        f"{pair.before.test.value} {units.rate(pair.before.mean_tps)} before, "
        f"{units.rate(pair.after.mean_tps)} after{times} ({pair.change.value})"
    )


def _rates(first: Evidence, second: Evidence) -> tuple[RatePair, ...]:
    run_id = first.again.first_run_id if first.again is not None else ""
    found = []
    for old in first.runs:
        if run_id and old.run_id != run_id:
            continue
        same = (old.test, old.n_tokens, old.depth)
        new = next((r for r in second.runs if (r.test, r.n_tokens, r.depth) == same), None)
        if new is not None:
            is_quiet = not (old.busy or new.busy)
            change = compare(old, new) if is_quiet else Change.DISTURBED
            found.append(RatePair(old, new, change))
    return tuple(found)


def _pairs(first: Evidence, second: Evidence, finding: Finding) -> tuple[Pair, ...]:
    """Return the cited lines with their counterparts, then where the bytes were."""
    found = [pair for cite in finding.cites if (pair := _cited(first, second, cite)) is not None]
    before = first.log.load if first.log else None
    after = second.log.load if second.log else None
    if before is not None and after is not None:
        found += _placements(before, after)
    return tuple(found)


def _cited(first: Evidence, second: Evidence, cite: Cite) -> Pair | None:
    """Pair a cited line with the line of the second log that states the same; None = no line."""
    if cite.line is None or first.log is None or second.log is None:
        return None
    event = next((event for event in first.log.events if event.line == cite.line), None)
    if event is None:
        return None
    twin = _twin(event, second.log.load)
    what = event.fact.value.replace("_", " ")
    if twin is None:
        return Pair(what, cite.text, _NOT_SEEN, cite.line)
    # the same values in another wording or position are no change
    text = cite.text if twin.values == event.values else twin.text
    return Pair(what, cite.text, text, cite.line, twin.line)


def _twin(event: LogEvent, story: LoadStory | None) -> LogEvent | None:
    events = story.events if story is not None else ()
    names = ("buffer", "device", "row")
    for other in reversed(events):
        if other.fact is event.fact and all(
            other.values.get(name) == event.values.get(name) for name in names
        ):
            return other
    return None


def _placements(before: LoadStory, after: LoadStory) -> list[Pair]:
    def sizes(kind: BufferKind, role: Role) -> tuple[str, str]:
        old, new = before.bytes_of(kind, role), after.bytes_of(kind, role)
        return units.mib(old), units.mib(new)

    def words(story: LoadStory) -> str:
        line = story.offload_line
        return f"{line[0]} of {line[1]}" if line is not None else "not said"

    found = [
        Pair("weights on devices", *sizes(BufferKind.DEVICE, Role.WEIGHTS)),
        Pair("weights in system memory", *sizes(BufferKind.HOST, Role.WEIGHTS)),
        Pair("KV cache on devices", *sizes(BufferKind.DEVICE, Role.KV)),
        Pair("KV cache in system memory", *sizes(BufferKind.HOST, Role.KV)),
        Pair("layers asked for", words(before), words(after)),
        Pair("context", units.count(before.n_ctx), units.count(after.n_ctx)),
        Pair("cache types", _types(before), _types(after)),
    ]
    return [pair for pair in found if pair.is_changed]


def _types(story: LoadStory) -> str:
    return f"{story.cache_type_k or 'not said'} / {story.cache_type_v or 'not said'}"
