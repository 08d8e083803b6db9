"""Predicted beside measured: what placement explains of a rate, and whether something is left.

The rates of other placements, measured here, give the line of seconds per token over the host's
share (slowdown.md sections 3, 4 and 7). The rate in question is never part of its own prediction.
"""

from dataclasses import dataclass
from enum import Enum

from app.core import slowdown, units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.reading import Estimate, Kind
from app.core.spots import Spot, inverse, is_alike, spots_of

_WHOLE = 0.02  # a share up to here is a full offload: the embedding and rounding
_SAME_PLACE = 1e-4
_FAR_ENOUGH = 0.25  # to go on from the device end to the host end (slowdown.md section 3)
_BEYOND = 0.20  # 12 of 15 series were within 10 % there, so twice that
_NO_FINDING = 0.15  # a smaller deviation is none (slowdown.md section 4)
_SPLIT_COST = 1.0  # of t_all, the most that a split cost where r is small (section 6)


class Judgement(Enum):
    """What the comparison says."""

    AS_PREDICTED = "as-predicted"
    SLOWER = "slower"  # a second fault
    FASTER = "faster"  # something that was assumed is not so
    DISTURBED = "disturbed"
    NO_FIGURE = "no-figure"  # no prediction may be made


@dataclass(frozen=True, slots=True)
class Expected:
    """One rate beside what its placement predicts; None = not known, reason says why."""

    test: Test
    spot: Spot
    others: tuple[Spot, ...]  # what the prediction rests on
    predicted: Estimate | None  # tokens per second
    line: Estimate | None  # the straight line, where it must not be called a prediction
    slowdown: Estimate | None  # predicted, against all layers on the device
    line_slowdown: Estimate | None  # of the straight line
    measured_slowdown: Estimate | None
    r: Estimate | None
    judgement: Judgement
    sentence: str


def expectations(evidence: Evidence) -> tuple[Expected, ...]:
    """Compare the last rate of each test with the other placements that were measured here."""
    found = []
    for test in (Test.GENERATION, Test.PROMPT):
        run = next((run for run in reversed(evidence.runs) if run.test is test), None)
        if run is not None and (one := expected(evidence, run)) is not None:
            found.append(one)
    return tuple(found)


def expected(evidence: Evidence, run: BenchRun) -> Expected | None:
    """Compare one rate; None when its placement cannot be calculated."""
    own = spots_of(evidence, (run,))
    if not own:
        return None
    others = known(evidence, run)
    return _compared(evidence, own[0], others)


def known(evidence: Evidence, run: BenchRun) -> tuple[Spot, ...]:
    """Return the latest rate of each other placement that differs from this run in nothing else."""
    alike = tuple(
        other
        for other in (*evidence.history, *evidence.runs)
        if is_alike(run, other) and not other.busy and other.run_id != run.run_id
    )
    by_share = {round(spot.share, 4): spot for spot in spots_of(evidence, alike)}
    return tuple(by_share[share] for share in sorted(by_share))


def between(share: float, points: tuple[Spot, ...]) -> tuple[Estimate, tuple[Spot, Spot]] | None:
    """Return seconds per token at a share by the straight line through two measured points."""
    below = [spot for spot in points if spot.share <= share + 1e-6]
    above = [spot for spot in points if spot.share >= share - 1e-6]
    if below and above:
        first, last = below[-1], above[0]
        if first is last:
            return first.time, (first, last)
        return _line(share, first, last, 0.0), (first, last)
    # towards the host the line holds; towards the device it was up to ten times wrong (section 3)
    if len(points) > 1 and points[0].share <= _WHOLE and points[-1].share >= _FAR_ENOUGH:
        first, last = points[0], points[-1]
        return _line(share, first, last, _BEYOND), (first, last)
    return None


def _line(share: float, first: Spot, last: Spot, error: float) -> Estimate:
    weight = (share - first.share) / (last.share - first.share)

    def at(one: float, other: float) -> float:
        return (1 - weight) * one + weight * other

    names = " and ".join(_named(spot) for spot in (first, last))
    return Estimate(
        value=at(first.time.value, last.time.value),
        low=at(first.time.low, last.time.low) * (1 - error),
        high=at(first.time.high, last.time.high) * (1 + error),
        source=f"the line between your runs with {names}",
        kind=Kind.CALCULATED,
    )


def _named(spot: Spot) -> str:
    day = f" of {spot.run.started[:10]}" if spot.run.started else ""
    return f"{spot.ngl} of {spot.layers_total} layers on the device{day}"


def ends(points: tuple[Spot, ...]) -> tuple[Spot | None, Spot | None]:
    """Return the rates with nothing and with everything on the host, None = not measured."""
    device = points[0] if points and points[0].share <= _WHOLE else None
    host = points[-1] if points and points[-1].share >= 1 - _WHOLE else None
    return device, host


def _compared(evidence: Evidence, own: Spot, others: tuple[Spot, ...]) -> Expected:
    device, host = ends(with_own(own, others))
    r = slowdown.measured_ratio(host.rate, device.rate) if device and host else None
    found = between(own.share, others)
    line = found[0] if found is not None else None
    used = found[1] if found is not None else ()
    is_end = own.share <= _WHOLE or own.share >= 1 - _WHOLE
    why = "" if is_end or line is None else _no_figure(evidence, r, own)
    predicted = inverse(_widened(line, own)) if line is not None and not why else None
    judgement = _judge(own, predicted, line, device)
    return Expected(
        test=own.run.test,
        spot=own,
        others=tuple(dict.fromkeys(used)),
        predicted=predicted,
        line=inverse(line) if line is not None else None,
        slowdown=_against(device, inverse(predicted)) if predicted and device else None,
        line_slowdown=_against(device, line) if line is not None and device else None,
        measured_slowdown=_against(device, own.time) if device else None,
        r=r,
        judgement=judgement,
        sentence=_sentence(judgement, own, predicted, line, why or _disturbed(evidence, own)),
    )


def with_own(own: Spot, others: tuple[Spot, ...]) -> tuple[Spot, ...]:
    """Add the rate in question where nothing else was measured with its placement."""
    if any(abs(other.share - own.share) < _SAME_PLACE for other in others):
        return others
    return tuple(sorted((*others, own), key=lambda spot: spot.share))


def _disturbed(evidence: Evidence, own: Spot) -> str:
    """Say that other placements were measured, but not on a quiet machine; "" when not so."""
    runs = (*evidence.history, *evidence.runs)
    if not any(
        run.busy and is_alike(own.run, run) and run.run_id != own.run.run_id for run in runs
    ):
        return ""
    return (
        "Other placements were measured while other programs computed, so nothing is predicted "
        "from them: measure both ends again on a quiet machine."
    )


def _no_figure(evidence: Evidence, r: Estimate | None, own: Spot) -> str:
    """Say why no figure may be promised between the ends, "" when it may."""
    if own.run.test is Test.PROMPT:
        return ""  # prompts kept to the line within 5 to 14 % everywhere (section 9)
    if r is None:
        return ""
    devices = evidence.machine.devices if evidence.machine else ()
    return slowdown.refusal(0.5, r, devices)


def _widened(time: Estimate, own: Spot) -> Estimate:
    """Widen the line by what it missed in the public series (section 4); at an end it is exact."""
    if own.share <= _WHOLE or own.share >= 1 - _WHOLE:
        return time
    low, high = slowdown.widened(time.low, time.high, own.read_bytes)
    return Estimate(time.value, low, high, time.source, time.kind)


def _against(device: Spot, time: Estimate) -> Estimate:
    base = device.time
    return Estimate(
        time.value / base.value, time.low / base.high, time.high / base.low,
        f"{time.source}, against {_named(device)}", time.kind,
    )  # fmt: skip


def _judge(
    own: Spot, predicted: Estimate | None, line: Estimate | None, device: Spot | None
) -> Judgement:
    if own.run.busy:
        return Judgement.DISTURBED
    if predicted is not None:
        return _beside(own.time, inverse(predicted))
    if line is None or device is None:
        return Judgement.NO_FIGURE
    most = line.high + _SPLIT_COST * device.time.high
    if own.time.low > most * (1 + _NO_FINDING):
        return Judgement.SLOWER
    return Judgement.NO_FIGURE


def _beside(time: Estimate, wanted: Estimate) -> Judgement:
    if time.overlaps(wanted) or abs(wanted.value / time.value - 1) < _NO_FINDING:
        return Judgement.AS_PREDICTED
    return Judgement.SLOWER if time.value > wanted.value else Judgement.FASTER


def _sentence(
    judgement: Judgement, own: Spot, predicted: Estimate | None, line: Estimate | None, why: str
) -> str:
    rate = units.rate(own.rate.value)
    if judgement is Judgement.DISTURBED:
        return f"{rate} measured while other programs computed, so it is not compared."
    if predicted is None and line is not None:
        told = (
            f"{rate} measured; the straight line between the ends says {_tps(inverse(line))}. {why}"
        )
        if judgement is Judgement.SLOWER:
            told += " It is slower than a split has ever cost: look for a second fault."
        return told
    if predicted is None and why:
        return f"{rate} measured. {why}"
    if predicted is None:
        return (
            f"{rate} measured. To predict it, two other placements have to be measured: all layers "
            "on the device, and none or a third of them on it."
        )
    told = f"{rate} measured, {_tps(predicted)} predicted"
    span = f"({units.interval(predicted.low, predicted.high)})"
    if judgement is Judgement.AS_PREDICTED:
        return f"{told} {span}: the placement explains it."
    factor = units.times(
        max(own.time.value * predicted.value, 1 / own.time.value / predicted.value)
    )
    if judgement is Judgement.SLOWER:
        return (
            f"{told} {span}: {factor} slower than the placement explains. There is a second fault; "
            "see what else is listed, measure again, and look at threads, memory and power."
        )
    return (
        f"{told} {span}: {factor} faster than predicted. Something is not as assumed: the runs "
        "that the prediction rests on were disturbed, or had another placement. Measure them again."
    )


def _tps(found: Estimate) -> str:
    return units.rate(found.value)
