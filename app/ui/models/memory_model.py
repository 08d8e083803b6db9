"""The curve of memory over context and slots, as texts and gigabytes to draw."""

from dataclasses import dataclass

from app.core import units
from app.core.memory_curve import Line, MemoryCurve
from app.core.units import GIB


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """One number of slots in GiB over tokens; end None = no mark."""

    title: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    end: tuple[float, float] | None
    end_text: str


@dataclass(frozen=True, slots=True)
class MemoryView:
    """What the plot shows, and what to know about it."""

    lines: tuple[DrawnLine, ...]
    limit: float | None  # GiB
    limit_text: str
    sentence: str


EMPTY = MemoryView((), None, "", "")


def memory_view(curve: MemoryCurve) -> MemoryView:
    """Return the drawing of a curve."""
    limit = curve.limit_bytes
    where = "system memory" if curve.is_host else "device memory"
    return MemoryView(
        lines=tuple(_drawn(line, limit) for line in curve.lines),
        limit=None if limit is None else limit / GIB,
        limit_text="" if limit is None else f"free {where}{_less(curve)}: {units.gib(limit)}",
        sentence=_sentence(curve, where),
    )


def _less(curve: MemoryCurve) -> str:
    return " less the driver's own" if curve.kept else ""


def _drawn(line: Line, limit: int | None) -> DrawnLine:
    x = tuple(float(point.ctx) for point in line.points)
    end = None
    if line.end and limit is not None:
        end = (float(line.end), limit / GIB)
    return DrawnLine(
        title=_slots(line.slots),
        x=x,
        y=tuple(point.n_bytes / GIB for point in line.points),
        end=end,
        end_text=f"{_slots(line.slots)}: {units.count(line.end)}" if end else "",
    )


def _slots(n: int) -> str:
    return f"{n} slot" if n == 1 else f"{n} slots"


def _sentence(curve: MemoryCurve, where: str) -> str:
    if curve.limit_bytes is None:
        return f"The free {where} is not known, so there is no end to mark."
    texts = []
    for line in curve.lines:
        name = f"{_slots(line.slots)}"
        if line.end is None:
            texts.append(f"{name}: fits up to the training context")
        elif line.end == 0:
            texts.append(f"{name}: does not fit at any context")
        else:
            texts.append(f"{name}: full above {units.count(line.end)} tokens each")
    rest = (
        "" if curve.is_host else " With all layers on the devices, at the top of compute's range."
    )
    kept = f" {curve.kept}" if curve.kept else ""
    return f"{'; '.join(texts)}.{rest}{kept}"
