"""A tensor of llama.cpp's graph: its shape and strides, and what the allocator notes on it.

As struct ggml_tensor in ggml.h and struct hash_node in ggml-alloc.c, build 11434. It is changed
while the graph is split and allocated, so it is no frozen value; it never leaves this package.
"""

from collections.abc import Sequence

from app.core import quants

Shape4 = tuple[int, int, int, int]
_BYTES = {name: one.block_bytes for name, one in quants.BY_NAME.items()}
_VALUES = {name: one.block_values for name, one in quants.BY_NAME.items()}
NO_BACKEND = -1


class Tensor:
    """A node or leaf; kind is the data type's name, ne and nb as in ggml."""

    __slots__ = (
        "backend", "buffer", "children", "chunk", "copies", "is_input", "is_output",
        "is_own", "is_visited", "is_weight", "kind", "n_bytes", "nb", "ne", "offset",
        "op", "place", "src", "view", "views",
    )  # fmt: skip

    def __init__(
        self,
        op: str,
        kind: str,
        ne: Shape4,
        *,
        nb: Shape4 | None = None,
        src: Sequence["Tensor"] = (),
        view: "Tensor | None" = None,
    ) -> None:
        self.op = op
        self.kind = kind
        self.ne = ne
        self.nb = strides(kind, ne) if nb is None else nb
        self.n_bytes = _size(kind, ne, self.nb)
        self.src = list(src)
        self.view = view  # the tensor whose memory this one shares, never itself a view
        self.buffer: str | None = None  # where it is before the graph, None = in the graph
        self.is_weight = False
        self.is_input = False
        self.is_output = False
        self.is_visited = False
        # notes of the scheduler and the allocator
        self.backend = NO_BACKEND
        self.copies: dict[int, list[Tensor]] | None = None
        self.children = 0
        self.views = 0
        self.is_own = False
        self.place = 0  # the backend in whose buffer it lies
        self.chunk = 0
        self.offset = 0

    @property
    def n_values(self) -> int:
        """Return the number of values."""
        a, b, c, d = self.ne
        return a * b * c * d

    @property
    def is_contiguous(self) -> bool:
        """Tell whether rows follow each other without gaps."""
        return self.nb == strides(self.kind, self.ne) or _is_contiguous(self)


def strides(kind: str, ne: Shape4) -> Shape4:
    """Return the strides in bytes of a tensor without gaps."""
    first = _BYTES[kind]
    second = first * (ne[0] // _VALUES[kind])
    third = second * ne[1]
    return (first, second, third, third * ne[2])


def row_bytes(kind: str, n_values: int) -> int:
    """Return the bytes of a row."""
    return _BYTES[kind] * n_values // _VALUES[kind]


def shape(*ne: int) -> Shape4:
    """Fill a shape up to four dimensions."""
    a, b, c, d = (*ne, 1, 1, 1)[:4]
    return (a, b, c, d)


def _size(kind: str, ne: Shape4, nb: Shape4) -> int:
    """Return ggml_nbytes."""
    a, b, c, d = ne
    if not (a and b and c and d):
        return 0
    values = _VALUES[kind]
    first = _BYTES[kind] + (a - 1) * nb[0] if values == 1 else a * nb[0] // values
    return first + (b - 1) * nb[1] + (c - 1) * nb[2] + (d - 1) * nb[3]


def _is_contiguous(one: Tensor) -> bool:
    """Compare strides where a dimension has more than one entry (ggml_is_contiguous_n)."""
    step = _BYTES[one.kind]
    if one.ne[0] != _VALUES[one.kind] and one.nb[0] != step:
        return False
    step *= one.ne[0] // _VALUES[one.kind]
    for n, stride in zip(one.ne[1:], one.nb[1:], strict=True):
        if n != 1:
            if stride != step:
                return False
            step *= n
    return True
