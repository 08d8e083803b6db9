"""What llama.cpp itself says a load takes, and how it compares with what was calculated."""

from dataclasses import dataclass, replace
from enum import Enum

from app.core.placement import Placement, Row
from app.core.request import LoadRequest
from app.core.units import MIB

# the table prints whole MiB, cut off (common_memory_breakdown_print in common/common.cpp, 11434)
TOLERANCE_BYTES = MIB
AGREES_TEXT = "Both agree: weights and context within 1 MiB, compute within its stated range."
TOLERANCE_TEXT = (
    "What differs by more than 1 MiB, for compute by more than its stated range, is marked: trust "
    "llama.cpp's figure there."
)
SOURCE = "the memory breakdown table of its own dry pass, in whole MiB, cut off"


class Part(Enum):
    """A column of the table."""

    WEIGHTS = "weights"
    CONTEXT = "context"
    COMPUTE = "compute"


@dataclass(frozen=True, slots=True)
class SaidRow:
    """One row of the table; all sizes in MiB as printed."""

    buffer: str
    is_host: bool
    weights_mib: int
    context_mib: int
    compute_mib: int

    def mib(self, part: Part) -> int:
        """Return one column in MiB."""
        columns = {
            Part.WEIGHTS: self.weights_mib,
            Part.CONTEXT: self.context_mib,
            Part.COMPUTE: self.compute_mib,
        }
        return columns[part]


@dataclass(frozen=True, slots=True)
class Said:
    """The table that a program printed for one request, without loading the weights."""

    rows: tuple[SaidRow, ...]
    program: str  # "llama-server"
    build: int | None
    command: tuple[str, ...]
    request: LoadRequest
    seconds: float
    is_sparse_copy: bool = False  # the file was not whole: a copy of its header was asked about
    differences: tuple[str, ...] = ()  # from what was calculated, beyond the tolerance, in words

    @property
    def source(self) -> str:
        """Return where the figures come from."""
        build = f" build {self.build}" if self.build is not None else ""
        return f"{self.program}{build}: {SOURCE}"


@dataclass(frozen=True, slots=True)
class Figure:
    """Both words on one buffer's part: calculated in bytes, said in MiB (None = not asked)."""

    buffer: str
    part: Part
    n_bytes: int
    low_bytes: int
    high_bytes: int
    said_mib: int | None

    @property
    def is_apart(self) -> bool:
        """Tell whether the difference is beyond the tolerance: 1 MiB over the stated range."""
        if self.said_mib is None:
            return False
        low, high = self.low_bytes - TOLERANCE_BYTES, self.high_bytes + TOLERANCE_BYTES
        # said_mib stands for all sizes from itself to one MiB more
        return not (low < (self.said_mib + 1) * MIB and self.said_mib * MIB <= high)

    @property
    def text(self) -> str:
        """Say the difference in words."""
        said = "nothing" if self.said_mib is None else f"{self.said_mib:,} MiB"
        return (
            f"{self.buffer} {self.part.value}: calculated {self.n_bytes / MIB:,.1f} MiB, "
            f"llama.cpp says {said}"
        )


def compare(placed: Placement, said: Said | None) -> tuple[Figure, ...]:
    """Return every part of every buffer that either of them names; said None = not asked."""
    ours = {row.buffer: row for row in placed.rows}
    theirs = {row.buffer: row for row in said.rows} if said is not None else {}
    figures: list[Figure] = []
    for buffer in dict.fromkeys((*ours, *theirs)):
        row, said_row = ours.get(buffer), theirs.get(buffer)
        figures += [_figure(buffer, part, row, said_row) for part in Part]
    return tuple(figures if said is not None else [replace(f, said_mib=None) for f in figures])


def apart(figures: tuple[Figure, ...]) -> tuple[str, ...]:
    """Return the differences beyond the tolerance, in words."""
    return tuple(figure.text for figure in figures if figure.is_apart)


def _figure(buffer: str, part: Part, row: Row | None, said: SaidRow | None) -> Figure:
    value = low = high = 0
    if row is not None and part is Part.COMPUTE:
        value, low, high = row.compute_bytes, row.compute_low_bytes, row.compute_high_bytes
    elif row is not None:
        value = low = high = row.weights_bytes if part is Part.WEIGHTS else row.context_bytes
    return Figure(buffer, part, value, low, high, said.mib(part) if said is not None else 0)
