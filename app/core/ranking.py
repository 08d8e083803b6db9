"""Which changes would help this load, by how much, and what they cost; biggest gain first."""

from dataclasses import dataclass

from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.reading import Estimate
from app.core.rule import Change
from app.core.trial import TOO_LITTLE, Trial, gain, trial_of
from app.core.tuning import tunings
from app.core.waterfall import Waterfall, waterfall
from app.core.ways import IN_ORDER, Refused, Toll, Way

# the changes that an option of a new load makes, by the names of ways.py and tuning.py
TRIED_BY_A_LOAD = (
    "host-only", "more-layers", "experts-on-host", "cache-on-device", "shorter-context",
    "smaller-cache", "fewer-threads", "flash-attention", "other-backend",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One change alone; gain is how many times faster writing gets, None: reason says why not."""

    id: str
    title: str
    text: str
    cost: str
    gain: Estimate | None
    reason: str = ""
    change: Change = ()
    command: str = ""  # in the words of the user's runtime, filled in by the judge's side
    toll: Toll = Toll.NOTHING


@dataclass(frozen=True, slots=True)
class Ranking:
    """What helps, biggest gain first, what does not, and the steps on top of each other."""

    options: tuple[Option, ...] = ()
    refused: tuple[Refused, ...] = ()
    path: Waterfall | None = None


def ranking(evidence: Evidence, found: Forecast) -> Ranking:
    """Look at each change for this model, machine and setting; empty: no placement is known."""
    now = trial_of(evidence, found)
    if now is None:
        return Ranking()
    listed: list[Option] = []
    refused: list[Refused] = []
    if now.devices:
        for title, find in IN_ORDER:
            way = find(now)
            if isinstance(way, str):
                refused.append(Refused(title, way))
            elif way is not None:
                option = _option(now, way)
                if option.reason == TOO_LITTLE:
                    refused.append(Refused(option.title, option.reason))
                else:
                    listed.append(option)
    listed += [_made(way, figure, way.why) for way, figure in tunings(now)]
    # what has a figure first; the rest keeps the order of what costs least (advice.md part 3)
    listed.sort(key=lambda option: -option.gain.value if option.gain is not None else 0.0)
    return Ranking(tuple(listed), tuple(refused), waterfall(evidence, found))


def _option(now: Trial, way: Way) -> Option:
    if way.after is None:
        return _made(way, None, way.why or "its placement cannot be calculated")
    figure, reason = gain(now, way.after, way.kernels)
    if figure is None and reason == TOO_LITTLE and way.why:
        reason = way.why
    return _made(way, figure, reason)


def _made(way: Way, figure: Estimate | None, reason: str) -> Option:
    return Option(
        way.id, way.title, way.text, way.cost, figure, "" if figure is not None else reason,
        way.change, toll=way.toll,
    )  # fmt: skip
