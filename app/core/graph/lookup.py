"""The weights of a load as tensors, and which blocks are alike and lie alike."""

from collections.abc import Callable, Sequence

from app.core.graph.build import fixed
from app.core.graph.net import Homes
from app.core.graph.tensor import Tensor
from app.core.graph.tensor import shape as full_shape
from app.core.shape import Shape
from app.core.stow import Stowed
from app.core.weights import Place

_REPEATS = 4  # of a pattern of blocks: from the fifth on each finds the memory of an earlier one
_LONGEST_PATTERN = 12
_OUTPUTS = ("output.weight", "token_embd.weight")


class Shelf:
    """The weights by name, with the buffer each lies in."""

    def __init__(self, shape: Shape, homes: Homes, stowed: Sequence[Stowed]) -> None:
        self._homes = homes
        self._stowed = stowed
        self._by_name: dict[str, Stowed] = {}
        self._rope: list[Stowed] = []
        blocks: list[list[object]] = [
            [layer, homes.blocks[i], homes.cache_buffers[i]] for i, layer in enumerate(shape.layers)
        ]
        others: list[object] = []
        for entry in stowed:
            weight = entry.weight
            if weight.is_block:
                blocks[weight.block] += (weight.mold, entry.buffer)
            else:
                others += (weight.mold, entry.buffer)
        self.signatures = [tuple(one) for one in blocks]  # what makes a block unlike others
        self.others = tuple(others)  # of the weights outside of blocks

    def finder(self) -> Callable[[str], Tensor | None]:
        """Return what finds weights by name as tensors of one graph, each made once."""
        if not self._by_name:
            self._sort()
        made: dict[str, Tensor] = {}

        def find(name: str) -> Tensor | None:
            if name in made:
                return made[name]
            entry = self._of_rope(name) if name.startswith("rope_") else self._by_name.get(name)
            if entry is None:
                return None
            # blocks share the rope factors of their buffer
            key = f"{entry.weight.name} {entry.buffer}" if entry.weight.is_rope else name
            if key not in made:
                weight = entry.weight
                ne = full_shape(*weight.shape)
                made[key] = fixed(weight.type_name, ne, entry.buffer, is_weight=True)
            return made[key]

        return find

    def _of_rope(self, name: str) -> Stowed | None:
        """Return the copy of the rope factors that lies with a block: NAME.BLOCK."""
        base, _dot, block = name.rpartition(".")
        device = self._homes.blocks[int(block)]
        at = None if device == self._homes.cpu else device
        same = (e for e in self._rope if e.weight.name == f"{base}.weight" and e.device == at)
        return next(same, None)

    def _sort(self) -> None:
        for entry in self._stowed:
            weight = entry.weight
            if weight.is_rope:
                self._rope.append(entry)
            elif weight.place is Place.OUTPUT and weight.name in _OUTPUTS:
                self._by_name["output"] = entry
            else:
                self._by_name[weight.name] = entry


def few(signatures: Sequence[object]) -> tuple[int, ...]:
    """Shorten runs of one pattern of blocks; an even number goes, as memory is taken in turns."""
    numbers: dict[object, int] = {}
    kinds = [numbers.setdefault(one, len(numbers)) for one in signatures]
    kept: list[int] = []
    i = 0
    while i < len(kinds):
        length, times = _run(kinds, i)
        n = length * min(times, _REPEATS + times % 2)
        kept.extend(range(i, i + n))
        i += length * times
    return tuple(kept)


def _run(kinds: Sequence[int], start: int) -> tuple[int, int]:
    """Return the shortest pattern that repeats often from here, and how often."""
    for length in range(1, _LONGEST_PATTERN + 1):
        pattern = kinds[start : start + length]
        end = start + length
        while kinds[end : end + length] == pattern:
            end += length
        times = (end - start) // length
        if times > _REPEATS + 1:
            return length, times
    return 1, 1
