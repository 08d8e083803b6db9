"""Round figures for the upper edge of a strip, so that its axis is easy to read."""

import math

from app.core import units
from app.ui.models.live_history import Trace

_BYTES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_PLAIN = (1, 2, 2.5, 5, 10)
_ROOM = 1.04  # above the highest value, so that its line is not the edge


def bytes_top(traces: tuple[Trace, ...], least: float) -> float:
    """Return the next round figure in MiB, GiB, ... above all values."""
    value = max(_ROOM * _most(traces), least)
    step = float(units.MIB)
    while step * _BYTES[-1] < value:
        step *= units.KIB
    return next(step * factor for factor in _BYTES if step * factor >= value)


def plain_top(traces: tuple[Trace, ...], least: float) -> float:
    """Return the next round figure above all values: 1, 2, 2.5, 5 times a power of ten."""
    value = max(_ROOM * _most(traces), least)
    step = 10.0 ** math.floor(math.log10(value))
    return next(step * factor for factor in _PLAIN if step * factor >= value)


def _most(traces: tuple[Trace, ...]) -> float:
    found = (value for trace in traces for _, value in trace.points if not math.isnan(value))
    return max(found, default=0.0)
