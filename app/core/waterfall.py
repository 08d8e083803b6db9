"""The way from today's speed to the best reachable one, one change after the other.

Each step is planned anew on top of the steps before it, in the order of what they cost: gains of
different bottlenecks do not multiply (advice.md claim 82). A step that brings nothing any more is
named, with the reason, instead of drawn.
"""

from dataclasses import dataclass

from app.core import units
from app.core.bench import Test
from app.core.evidence import Evidence
from app.core.forecast import Forecast, rate_of
from app.core.reading import Estimate, Kind
from app.core.trial import TOO_LITTLE, Trial, gain, trial_of
from app.core.ways import IN_ORDER, Refused, Toll, Way

_NOT_MEASURED = "speed of now = 1; the rate itself was not measured"
_NOTHING_LEFT = "it brings nothing more by then"


@dataclass(frozen=True, slots=True)
class Level:
    """How fast it writes after a step: against now, and in tokens per second, None = unmeasured."""

    speed: Estimate
    tps: Estimate | None


@dataclass(frozen=True, slots=True)
class Stage:
    """One change on top of those before it; gain is against the level before."""

    id: str
    short: str
    title: str
    text: str
    cost: str
    toll: Toll
    gain: Estimate
    level: Level


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The path; without stages, why says what is missing to calculate one, "" = nothing helps."""

    now: Level
    stages: tuple[Stage, ...]
    left_out: tuple[Refused, ...]
    why: str = ""

    @property
    def best(self) -> Level:
        """Return the last level."""
        return self.stages[-1].level if self.stages else self.now


def waterfall(evidence: Evidence, found: Forecast) -> Waterfall | None:
    """Return the path for this load, None when its placement is not known."""
    now = trial_of(evidence, found)
    if now is None or not now.devices:
        return None
    base = _tps(evidence)
    here = now
    stages: list[Stage] = []
    left_out: dict[str, Refused] = {}
    why, unsure = "", 1.0
    for title, find in (*IN_ORDER, *IN_ORDER):  # a smaller file may make room for what had none
        way = find(here)
        if isinstance(way, str):
            left_out.setdefault(title, Refused(title, way))
        if not isinstance(way, Way) or any(stage.id == way.id for stage in stages):
            continue
        unsure = max(unsure, way.kernels)  # what one step is unsure of, all after it are too
        stage, reason = _stage(now, here, way, base, unsure)
        if stage is not None and way.after is not None:
            stages.append(stage)
            left_out.pop(title, None)
            here = way.after
            continue
        why = why or (reason if reason != TOO_LITTLE else "")
        if reason == TOO_LITTLE and stages:
            reason = _NOTHING_LEFT
        left_out.setdefault(title, Refused(way.title, reason))
    told = tuple(left_out.values())
    return Waterfall(_level(None, base), tuple(stages), told, "" if stages else why)


def _stage(
    now: Trial, here: Trial, way: Way, base: Estimate | None, unsure: float
) -> tuple[Stage | None, str]:
    """Return the step, or why it has no figure."""
    if way.after is None:
        return None, way.why or "its placement cannot be calculated"
    step, reason = gain(here, way.after, way.kernels)
    if step is None:
        return None, (way.why if reason == TOO_LITTLE and way.why else reason)
    total, reason = gain(now, way.after, unsure)
    if total is None:
        return None, reason
    return Stage(
        way.id, way.short, way.title, way.text, way.cost, way.toll, step, _level(total, base)
    ), ""


def _level(speed: Estimate | None, base: Estimate | None) -> Level:
    """Return a level; its range in tokens per second has that of the measured rate in it."""
    if speed is None:
        source = base.source if base is not None else _NOT_MEASURED
        return Level(Estimate(1.0, 1.0, 1.0, source, Kind.CALCULATED), base)
    if base is None:
        return Level(speed, None)
    return Level(
        speed,
        Estimate(
            base.value * speed.value, base.low * speed.low, base.high * speed.high,
            f"{units.rate(base.value)} measured ({base.source}), times {speed.source}",
            Kind.CALCULATED,
        ),
    )  # fmt: skip


def _tps(evidence: Evidence) -> Estimate | None:
    """Return the generation rate of the last run, None when it was not measured or is uncertain."""
    runs = (run for run in reversed(evidence.runs) if run.test is Test.GENERATION)
    last = next(runs, None)
    return rate_of(last) if last is not None else None
