"""What the Diagnose tab shows of predicted beside measured: texts and a curve, as values."""

from dataclasses import dataclass

from app.core import units
from app.core.evidence import Evidence
from app.core.expectation import Expected, Judgement, expectations
from app.core.slowdown_line import Line, explained, line_of
from app.ui.widgets.curve import Curve

_NOT_ALL = (
    "Measure both ends, nothing and everything on the device, to see what this placement should "
    "bring. It takes two short runs."
)


@dataclass(frozen=True, slots=True)
class Picture:
    """The curve, the measured points and the rate in question."""

    curve: Curve
    measured: tuple[tuple[float, float], ...]
    own: tuple[float, float]
    label: str
    note: str


@dataclass(frozen=True, slots=True)
class PredictionView:
    """Everything of the card; missing says what to measure, "" = nothing."""

    sentences: tuple[str, ...]
    is_second_fault: bool
    picture: Picture | None
    missing: str


def prediction_view(evidence: Evidence) -> PredictionView:
    """Return what to show."""
    found = expectations(evidence)
    line = line_of(evidence)
    has_ends = any(one.r is not None for one in found)
    return PredictionView(
        sentences=explained(found),
        is_second_fault=any(one.judgement is Judgement.SLOWER for one in found),
        picture=_picture(line, found) if line is not None else None,
        missing="" if has_ends or not found else _NOT_ALL,
    )


def _picture(line: Line, found: tuple[Expected, ...]) -> Picture:
    places = line.positions
    r = next((one.r for one in found if one.r is not None), None)
    r_text = f" r = {units.times_range(r.low, r.high)}, {r.source}." if r is not None else ""
    said = (
        "The band is the range of the prediction." if line.is_promise
        else "The line joins both measured ends; between them no figure can be promised here."
    )  # fmt: skip
    ngl, value = line.own
    return Picture(
        curve=Curve(
            "n_gpu_layers",
            "slowdown ×",
            tuple(float(p.ngl) for p in places),
            tuple(p.value for p in places),
            tuple(p.low for p in places),
            tuple(p.high for p in places),
            f"Slowdown of generation over the layers on the device; measured here at {ngl}: "
            f"{units.times(value)}",
        ),
        measured=tuple((float(x), y) for x, y in line.measured),
        own=(float(ngl), value),
        label=f"measured {units.times(value)}",
        note=f"Diamonds: measured. Dot: this run. {said if places else ''}{r_text}".strip(),
    )
