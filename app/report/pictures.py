"""The pictures of a report as values: the way to the best speed, and the predicted slowdown."""

from app.core import units
from app.core.evidence import Evidence
from app.core.expectation import Expected, expectations
from app.core.reading import Estimate
from app.core.slowdown_line import line_of
from app.core.waterfall import Level, Stage, Waterfall
from app.core.ways import Toll
from app.report.blocks import CurveChart, StepBar, StepChart

_TPS = "tokens per second while writing"
_TIMES = "speed while writing, now = 1"


def step_chart(path: Waterfall) -> StepChart | None:
    """Return the picture of a path, None when it has no step."""
    if not path.stages:
        return None
    bars = [_whole("Now", "measured" if path.now.tps else "not measured", path.now)]
    before = path.now
    for stage in path.stages:
        bars.append(_step(stage, before))
        before = stage.level
    bars.append(_whole("Best", "calculated", path.best))
    return StepChart(
        "From now to the best this computer can do, one change on top of the other",
        _TPS if path.now.tps is not None else _TIMES,
        tuple(bars),
    )


def figure_of(level: Level) -> Estimate:
    """Return what is drawn of a level: tokens per second where now was measured."""
    return level.tps if level.tps is not None else level.speed


def level_text(level: Level) -> str:
    """Return a level with its range in words."""
    found = figure_of(level)
    if level.tps is None:
        return f"{units.times(found.value)} ({units.times_range(found.low, found.high)})"
    return f"{units.rate(found.value)} ({units.interval(found.low, found.high)})"


def curve_chart(evidence: Evidence) -> CurveChart | None:
    """Return the slowdown over the layers with what was measured; None without a device end."""
    line = line_of(evidence)
    if line is None:
        return None
    ngl, value = line.own
    found = next((one for one in expectations(evidence) if one.r is not None), None)
    places = line.positions
    band = "the band is the range of the prediction" if line.is_promise else (
        "the line joins both measured ends; no figure is promised between them"
    )  # fmt: skip
    told = f"Diamonds: measured. Dot: this run, {units.times(value)} at {ngl} layers."
    if places:
        told += f" Curve: (1 − s) + s × r; {band}."
    return CurveChart(
        "Slowdown of generation over the layers on the device, predicted and measured",
        "layers on the device (n_gpu_layers)",
        "slowdown, all layers on the device = 1",
        tuple(float(p.ngl) for p in places),
        tuple(p.value for p in places),
        tuple(p.low for p in places),
        tuple(p.high for p in places),
        tuple((float(x), y) for x, y in line.measured),
        (float(ngl), value),
        f"measured {units.times(value)}",
        f"{told}{_r_text(found)}",
    )


def _r_text(found: Expected | None) -> str:
    if found is None or found.r is None:
        return ""
    return f" r = {units.times_range(found.r.low, found.r.high)}, {found.r.source}."


def _whole(label: str, note: str, level: Level) -> StepBar:
    found = figure_of(level)
    return StepBar(
        label, note, (_short(level, found.value),),
        f"{label}: {level_text(level)}. Source: {found.source}.",
        0.0, found.value, found.low, found.high, is_whole=True,
    )  # fmt: skip


def _step(stage: Stage, before: Level) -> StepBar:
    found, start = figure_of(stage.level), figure_of(before).value
    more = found.value - start
    added = f"+{more:.1f}" if stage.level.tps is not None else f"+{more:.2f}×"
    gain = stage.gain
    return StepBar(
        stage.short, stage.toll.value,
        (added, units.times(gain.value)),
        f"{stage.title}: {units.times(gain.value)} "
        f"({units.times_range(gain.low, gain.high)}) on top of the former steps, then "
        f"{level_text(stage.level)}. Costs: {stage.cost} Source: {gain.source}.",
        start, found.value, found.low, found.high,
        has_price=stage.toll in (Toll.CONTEXT, Toll.QUALITY),
    )  # fmt: skip


def _short(level: Level, value: float) -> str:
    return units.rate(value) if level.tps is not None else units.times(value)
