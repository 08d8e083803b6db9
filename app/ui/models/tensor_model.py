"""The tensors of each cell of the layer map as lines: name, type and size, the largest first."""

from collections import defaultdict

from app.core import units
from app.core.placement import Prepared
from app.core.weights import Place, Weight

_MOST = 14  # lines a tip keeps readable


def tensor_texts(prepared: Prepared) -> tuple[str, ...]:
    """Return a text for each cell: the embedding, every block, the output layer."""
    cells: dict[int, list[Weight]] = defaultdict(list)
    last = prepared.shape.layers_total
    for weight in prepared.weights:
        if weight.is_rope:
            continue
        place = {Place.INPUT: 0, Place.OUTPUT: last}.get(weight.place, weight.block + 1)
        cells[place].append(weight)
    return tuple(_text(cells[i]) for i in range(last + 1))


def _text(weights: list[Weight]) -> str:
    ordered = sorted(weights, key=lambda one: -one.n_bytes)
    lines = [_line(weight) for weight in ordered[:_MOST]]
    rest = ordered[_MOST:]
    if rest:
        lines.append(f"{len(rest)} more: {units.mib(sum(one.n_bytes for one in rest))}")
    return "\n".join(lines)


def _line(weight: Weight) -> str:
    name = weight.name
    if name.startswith("blk."):
        name = name.split(".", 2)[-1]
    shape = " × ".join(str(n) for n in weight.shape)
    return f"{name}  {weight.type_name}  {units.mib(weight.n_bytes)}  ({shape})"
