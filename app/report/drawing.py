"""Pictures as shapes with sizes, drawn by no one yet: the same in window, page and paper."""

import math
import textwrap
from dataclasses import dataclass
from enum import Enum

from app.report.blocks import CurveChart, StepBar, StepChart

_LETTER = 0.56  # width of a letter against its height, in the fonts that are used
_LEAST_TOP = 1e-9


class Paint(Enum):
    """What a shape stands for; each place that draws has its own colours for them."""

    TEXT = "text"
    DIM = "dim"
    GRID = "grid"
    NOW = "now"
    GAIN = "gain"
    PRICE = "price"  # a gain that costs context or quality, hatched as well
    CURVE = "curve"
    BAND = "band"
    POINT = "point"
    BACK = "back"


class Anchor(Enum):
    """Which point of a text its position is."""

    START = "start"
    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    paint: Paint


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    paint: Paint
    width: float = 1.0
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A filled shape."""

    points: tuple[tuple[float, float], ...]
    paint: Paint


@dataclass(frozen=True, slots=True)
class Mark:
    """A point, a dot or a diamond."""

    x: float
    y: float
    size: float
    paint: Paint
    is_diamond: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text; y is its base line."""

    x: float
    y: float
    text: str
    paint: Paint
    size: float
    anchor: Anchor = Anchor.START
    is_bold: bool = False


Shape = Box | Stroke | Area | Mark | Text


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of a picture, from x to x, and what is said of it."""

    left: float
    right: float
    told: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in a box of this size, in the unit of the text size."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    zones: tuple[Zone, ...]


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the plot lies and how values become positions."""

    left: float
    top: float
    right: float
    bottom: float
    most: float
    size: float

    def y(self, value: float) -> float:
        """Return the height of a value."""
        return self.bottom - (self.bottom - self.top) * min(value, self.most) / self.most


def drawn(chart: StepChart | CurveChart, width: float, size: float) -> Drawing:
    """Return the shapes of a picture, so wide, with letters so high."""
    return _steps(chart, width, size) if isinstance(chart, StepChart) else _curve(
        chart, width, size
    )  # fmt: skip


def _steps(chart: StepChart, width: float, size: float) -> Drawing:
    most = _nice_top(max((bar.high for bar in chart.bars), default=1.0))
    ticks = _ticks(most)
    left = size * _LETTER * (max(len(_tick(t)) for t in ticks) + 2)
    column = (width - left) / max(1, len(chart.bars))
    letters = max(8, int(column / (size * _LETTER)) - 1)
    labels = [textwrap.wrap(bar.label, letters, break_long_words=False) for bar in chart.bars]
    n_lines = max((len(lines) for lines in labels), default=1)
    n_figures = max((len(bar.figures) for bar in chart.bars), default=1)
    top = size * (2.2 + 1.35 * n_figures)
    frame = _Frame(left, top, width, top + 13 * size, most, size)
    height = frame.bottom + size * (1.35 * (n_lines + 1) + 0.8)
    shapes: list[Shape] = [Text(0, size, chart.unit, Paint.DIM, size), *_grid(frame, ticks)]
    zones = []
    for index, bar in enumerate(chart.bars):
        x = left + column * index
        shapes += _column(frame, bar, x + 0.16 * column, 0.68 * column)
        middle = x + column / 2
        for row, line in enumerate(labels[index]):
            y = frame.bottom + size * 1.35 * (row + 1)
            shapes.append(Text(middle, y, line, Paint.TEXT, size, Anchor.MIDDLE))
        y = frame.bottom + size * 1.35 * (n_lines + 1)
        shapes.append(Text(middle, y, bar.note, Paint.DIM, size, Anchor.MIDDLE))
        if index + 1 < len(chart.bars):
            level = frame.y(bar.value)
            ends = (x + 0.84 * column, level), (x + 1.16 * column, level)
            shapes.append(Stroke(ends, Paint.DIM, 0.08 * size, is_dashed=True))
        zones.append(Zone(x, x + column, bar.told))
    return Drawing(width, height, tuple(shapes), tuple(zones))


def _column(frame: _Frame, bar: StepBar, x: float, width: float) -> list[Shape]:
    """Draw one column with its range as a whisker, and its figures above."""
    size = frame.size
    low, high = (0.0, bar.value) if bar.is_whole else sorted((bar.start, bar.value))
    top, bottom = frame.y(high), frame.y(low)
    paint = Paint.NOW if bar.is_whole else Paint.PRICE if bar.has_price else Paint.GAIN
    found: list[Shape] = [Box(x, top, width, max(bottom - top, 0.15 * size), paint)]
    middle, tick = x + width / 2, 0.35 * size
    if bar.high > bar.low:
        first, last = frame.y(bar.low), frame.y(bar.high)
        for thick, colour in ((0.24, Paint.BACK), (0.12, Paint.TEXT)):
            found.append(Stroke(((middle, first), (middle, last)), colour, thick * size))
            found += [
                Stroke(((middle - tick, y), (middle + tick, y)), colour, thick * size)
                for y in (first, last)
            ]
    above = min(top, frame.y(bar.high)) - 0.5 * size
    for row, line in enumerate(reversed(bar.figures)):
        is_bold = row == len(bar.figures) - 1
        paint = Paint.TEXT if is_bold else Paint.DIM
        y = above - 1.35 * size * row
        found.append(Text(middle, y, line, paint, size, Anchor.MIDDLE, is_bold))
    return found


def _curve(chart: CurveChart, width: float, size: float) -> Drawing:
    values = (*chart.highs, *(y for _x, y in chart.measured), chart.own[1])
    most = _nice_top(max(values, default=1.0))
    ticks = _ticks(most)
    left = size * _LETTER * (max(len(_tick(t)) for t in ticks) + 2)
    frame = _Frame(left, 2.6 * size, width - 2 * size, 2.6 * size + 13 * size, most, size)
    furthest = max((*chart.xs, *(x for x, _y in chart.measured), chart.own[0]), default=1.0) or 1.0

    def x_of(value: float) -> float:
        return frame.left + (frame.right - frame.left) * value / furthest

    shapes: list[Shape] = [Text(0, size, chart.y_title, Paint.DIM, size), *_grid(frame, ticks)]
    if len(chart.xs) > 1:
        upper = [(x_of(x), frame.y(y)) for x, y in zip(chart.xs, chart.highs, strict=True)]
        lower = [(x_of(x), frame.y(y)) for x, y in zip(chart.xs, chart.lows, strict=True)]
        shapes.append(Area((*upper, *reversed(lower)), Paint.BAND))
        line = tuple((x_of(x), frame.y(y)) for x, y in zip(chart.xs, chart.ys, strict=True))
        shapes.append(Stroke(line, Paint.CURVE, 0.16 * size))
    for value in _ticks(furthest, whole=True):
        at = x_of(value)
        shapes.append(
            Text(at, frame.bottom + 1.35 * size, _tick(value), Paint.DIM, size, Anchor.MIDDLE)
        )
    for x, y in chart.measured:
        shapes.append(Mark(x_of(x), frame.y(y), 0.5 * size, Paint.POINT, is_diamond=True))
    own = x_of(chart.own[0]), frame.y(chart.own[1])
    shapes.append(Mark(*own, 0.55 * size, Paint.PRICE))
    is_left = own[0] > (frame.left + frame.right) / 2
    nearest = min(zip(chart.xs, chart.ys, strict=True), key=lambda p: abs(p[0] - chart.own[0]),
                  default=chart.own)  # fmt: skip
    away = 1.3 if chart.own[1] < nearest[1] else -0.5  # the label keeps off the curve
    shapes += [
        Text(own[0] + (-0.9 if is_left else 0.9) * size, own[1] + away * size, chart.label,
             Paint.TEXT, size, Anchor.END if is_left else Anchor.START, is_bold=True),
        Text((frame.left + frame.right) / 2, frame.bottom + 2.8 * size, chart.x_title, Paint.DIM,
             size, Anchor.MIDDLE),
    ]  # fmt: skip
    height = frame.bottom + 3.4 * size
    return Drawing(width, height, tuple(shapes), (Zone(frame.left, frame.right, chart.told),))


def _grid(frame: _Frame, ticks: tuple[float, ...]) -> list[Shape]:
    found: list[Shape] = []
    for value in ticks:
        y = frame.y(value)
        found.append(Stroke(((frame.left, y), (frame.right, y)), Paint.GRID, 0.08 * frame.size))
        at = frame.left - 0.5 * frame.size
        found.append(
            Text(at, y + 0.35 * frame.size, _tick(value), Paint.DIM, frame.size, Anchor.END)
        )
    return found


def _step_of(most: float) -> float:
    """Return a distance of 1, 2 or 5 times a power of ten that parts a range into about four."""
    rough = max(most, _LEAST_TOP) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def _nice_top(most: float) -> float:
    step = _step_of(most)
    return step * float(math.ceil(max(most, _LEAST_TOP) / step - 1e-9))


def _ticks(most: float, *, whole: bool = False) -> tuple[float, ...]:
    step = max(1.0, _step_of(most)) if whole else _step_of(most)
    return tuple(step * i for i in range(int(most / step + 1e-6) + 1))


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"
