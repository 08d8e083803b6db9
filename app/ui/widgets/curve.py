"""A curve with its range, as values; the plot that draws it needs pyqtgraph, this does not."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Curve:
    """What the plot shows; low and high are the range at each x, sentence is read aloud."""

    x_title: str
    y_title: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    sentence: str


EMPTY = Curve("", "", (), (), (), (), "")
