"""The law of slowdown against what people measured: python -m tests.truth.curves."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core import slowdown

FILE = Path(__file__).parents[1] / "data" / "truth" / "offload_curves.jsonl"
# median and 90th percentile in per cent that slowdown.md section 2 reports for all series
REPORTED: Mapping[str, tuple[float, float]] = {
    "discrete dense": (1.7, 5.9),
    "discrete MoE n_cpu_moe": (0.9, 5.0),
    "discrete MoE ngl": (3.0, 6.3),
    "discrete E2B": (5.8, 22),
    "discrete <1B": (3.6, 16),
    "unified": (19, 47),
    "own RPC": (3.8, 11),
}


@dataclass(frozen=True, slots=True)
class Point:
    """One measured position: the share that is predicted with, and tokens per second."""

    share: float
    tps: float


@dataclass(frozen=True, slots=True)
class Series:
    """One model on one machine at several positions."""

    id: str
    kind: str
    points: tuple[Point, ...]  # by share
    set_aside: str  # why, "" = it is not

    def errors(self) -> tuple[float, ...]:
        """Return predicted over measured less one, at the inner points; r from the outer two."""
        low, high = self.points[0], self.points[-1]
        slope = (1 / high.tps - 1 / low.tps) / (high.share - low.share)
        all_on_device_s = 1 / low.tps - slope * low.share
        r = 1 + slope / all_on_device_s
        return tuple(
            1 / (all_on_device_s * slowdown.law(point.share, r)) / point.tps - 1
            for point in self.points[1:-1]
        )


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Errors of one class, in per cent."""

    kind: str
    series: int
    points: int
    median: float
    p90: float
    worst: float
    within_10: float


def read(path: Path = FILE) -> tuple[Series, ...]:
    """Return all series of the file."""
    return tuple(_series(json.loads(line)) for line in path.read_text("utf-8").splitlines())


def accuracy(found: Sequence[Series]) -> Iterator[Accuracy]:
    """Yield a line per class of the series that are not set aside."""
    for kind in REPORTED:
        chosen = [series for series in found if series.kind == kind and not series.set_aside]
        errors = sorted(100 * abs(error) for series in chosen for error in series.errors())
        n = len(errors)
        yield Accuracy(
            kind=kind,
            series=len(chosen),
            points=n,
            median=_percentile(errors, 0.5),
            p90=_percentile(errors, 0.9),
            worst=errors[-1],
            within_10=100 * sum(error <= 10 for error in errors) / n,
        )


def table(found: Sequence[Series]) -> Iterator[str]:
    """Yield the table as Markdown."""
    yield "| class | series | points | median | 90 % | worst | within 10 % | reported |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for one in accuracy(found):
        median, p90 = REPORTED[one.kind]
        yield (
            f"| {one.kind} | {one.series} | {one.points} | {one.median:.1f} % | {one.p90:.1f} % "
            f"| {one.worst:.0f} % | {one.within_10:.0f} % | {median:g} %, {p90:g} % |"
        )


def _percentile(errors: Sequence[float], share: float) -> float:
    position = share * (len(errors) - 1)
    low = int(position)
    high = min(low + 1, len(errors) - 1)
    return errors[low] + (position - low) * (errors[high] - errors[low])


def _series(row: Mapping[str, Any]) -> Series:
    points = [
        Point(slowdown.predicted_share(point["f_bytes"], point["f_blocks"]), point["tg"])
        for point in row["points"]
        if not point.get("excluded")
    ]
    points.sort(key=lambda point: point.share)
    return Series(row["id"], row["cls"], tuple(points), str(row.get("set_aside") or ""))


if __name__ == "__main__":
    print("\n".join(table(read())))
