"""The parts a report is made of, as frozen values; each writer draws all of them."""

from dataclasses import dataclass
from enum import Enum


class Tone(Enum):
    """How a callout is meant; it also has a word, never a colour alone."""

    FAULT = "fault"
    DOUBT = "doubt"
    CLEAR = "clear"


class Ink(Enum):
    """What a piece of a bar stands for."""

    DEVICE = "weights on the device"
    HOST = "weights in system memory"
    CACHE = "KV cache"
    COMPUTE = "compute buffers"
    FREE = "free"
    PROMPT = "prompt"
    GENERATION = "generation"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is a section, 2 a part of it."""

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; a quiet one is an explanation in smaller type."""

    text: str
    is_quiet: bool = False


@dataclass(frozen=True, slots=True)
class Callout:
    """The verdict in a box: a word, a title, a sentence."""

    tone: Tone
    word: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A quoted line; number None means it has another source, which is named."""

    text: str
    number: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence lines, word for word."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A command to copy."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers stand to the right."""

    title: str
    is_number: bool = False
    share: int = 1  # of the width


@dataclass(frozen=True, slots=True)
class Table:
    """A table; without column titles it is a list of names and values."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a byte bar."""

    ink: Ink
    n_bytes: int


@dataclass(frozen=True, slots=True)
class ByteBar:
    """One memory: its pieces, and its size where it is known."""

    label: str
    pieces: tuple[Piece, ...]
    total_bytes: int | None = None

    @property
    def used_bytes(self) -> int:
        """Return the sum of all pieces."""
        return sum(piece.n_bytes for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ByteChart:
    """Memory bars, one under the other; each is as long as its own memory."""

    title: str
    bars: tuple[ByteBar, ...]


@dataclass(frozen=True, slots=True)
class RateBar:
    """A rate in tokens per second with its interval, where there is one."""

    label: str
    ink: Ink
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RateChart:
    """Rates of one kind on one scale."""

    title: str
    bars: tuple[RateBar, ...]


@dataclass(frozen=True, slots=True)
class StepBar:
    """One column: from start to value with its range; whole ones begin at zero."""

    label: str
    note: str  # what it costs, in a word
    figures: tuple[str, ...]  # above the column, a line each
    told: str  # the same as a sentence with its source
    start: float
    value: float
    low: float
    high: float
    is_whole: bool = False
    has_price: bool = False  # it costs context or quality


@dataclass(frozen=True, slots=True)
class StepChart:
    """Speeds one change after the other, each on top of those before it."""

    title: str
    unit: str
    bars: tuple[StepBar, ...]


@dataclass(frozen=True, slots=True)
class CurveChart:
    """A predicted curve with its range, measured points, and the one in question."""

    title: str
    x_title: str
    y_title: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    measured: tuple[tuple[float, float], ...]
    own: tuple[float, float]
    label: str
    told: str


Picture = StepChart | CurveChart
Chart = ByteChart | RateChart | StepChart | CurveChart
Block = Heading | Paragraph | Callout | Quote | Command | Bullets | Table | Chart
NAME_VALUE = (Column("", share=2), Column("", share=5))
