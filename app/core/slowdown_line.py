"""The predicted slowdown over the number of layers, with what was measured on it."""

from dataclasses import dataclass, replace

from app.core import expectation, slowdown
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.expectation import Expected
from app.core.spots import Spot, inverse, spots_of

_POSITIONS = 16  # each is a placement of a few milliseconds, and the window waits


@dataclass(frozen=True, slots=True)
class Position:
    """A number of layers and its slowdown against the device end; low = high: no range is sure."""

    ngl: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """The curve, the measured points (layers, slowdown), and the rate in question on it."""

    positions: tuple[Position, ...]
    measured: tuple[tuple[int, float], ...]
    own: tuple[int, float]
    predicted: tuple[int, float] | None
    is_promise: bool  # False: the straight line between the ends, no prediction


def line_of(evidence: Evidence) -> Line | None:
    """Return the picture of generation; None when the device end was not measured here."""
    run = next((run for run in reversed(evidence.runs) if run.test is Test.GENERATION), None)
    if run is None:
        return None
    found = expectation.expected(evidence, run)
    if found is None or found.measured_slowdown is None:
        return None
    points = expectation.with_own(found.spot, expectation.known(evidence, run))
    device, host = expectation.ends(points)
    if device is None:
        return None
    base = device.time.value
    is_promise = found.line is None or found.predicted is not None
    # a rate in the middle is never part of its own prediction
    rest = tuple(p for p in points if p.run is not run or p in (device, host))
    positions = _positions(evidence, run, rest, base, is_promise=is_promise) if host else ()
    said = found.predicted or found.line
    return Line(
        positions=positions,
        measured=tuple((spot.ngl, spot.time.value / base) for spot in points),
        own=(found.spot.ngl, found.spot.time.value / base),
        predicted=(found.spot.ngl, inverse(said).value / base) if said is not None else None,
        is_promise=is_promise,
    )


def _positions(
    evidence: Evidence, run: BenchRun, points: tuple[Spot, ...], base: float, *, is_promise: bool
) -> tuple[Position, ...]:
    layers = points[0].layers_total
    step = max(1, -(-layers // _POSITIONS))
    found = []
    for ngl in sorted({*range(0, layers, step), layers}):
        spot = _placed(evidence, run, ngl)
        line = expectation.between(spot.share, points) if spot is not None else None
        if spot is None or line is None:
            continue
        time = line[0]
        value = low = high = time.value / base
        if is_promise and ngl not in (0, layers):
            low, high = slowdown.widened(value, value, spot.read_bytes)
        found.append(Position(ngl, value, low, high))
    return tuple(found)


def _placed(evidence: Evidence, run: BenchRun, ngl: int) -> Spot | None:
    """Return the run as if it had had another number of layers; its rate is not looked at."""
    kept = tuple(pair for pair in run.settings if pair[0] not in ("n_gpu_layers", "devices"))
    tried = replace(run, settings=(*kept, ("n_gpu_layers", str(ngl))))
    found = spots_of(evidence, (tried,))
    return found[0] if found else None


def explained(found: tuple[Expected, ...]) -> tuple[str, ...]:
    """Return one sentence per rate: predicted beside measured."""
    return tuple(f"{one.test.title}: {one.sentence}" for one in found)
