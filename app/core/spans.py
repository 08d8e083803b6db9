"""Compute buffers with the range each may lie in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A size in bytes with the range it may lie in."""

    n_bytes: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Compute:
    """The compute buffers of a load."""

    host: Span
    devices: tuple[Span, ...]
    is_by_graph: bool = False  # built as the program builds it, not by a closed form
    keeps_flash: bool = True  # flash attention "auto" stays on
