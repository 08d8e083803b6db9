"""The graph allocator: the peak of each backend's compute buffer (ggml-alloc.c, build 11434)."""

from collections.abc import Sequence

from app.core.graph.tensor import Tensor

_MAY_REUSE = frozenset({
    "FILL", "SCALE", "ADD", "ADD_ID", "SUB", "MUL", "DIV", "SQR", "SQRT", "UNARY", "ROPE",
    "RMS_NORM", "CLAMP", "SOFT_MAX",
})  # fmt: skip
_ENDLESS = 1 << 62
_MAX_CHUNKS = 16


class Arena:
    """One backend's memory: free blocks by address, in chunks of a largest size."""

    def __init__(self, alignment: int, chunk_bytes: int | None) -> None:
        self._mask = alignment - 1
        self._chunk_bytes = min(chunk_bytes or _ENDLESS, _ENDLESS)
        self._free: list[list[list[int]]] = []  # per chunk: [offset, size], by offset
        self._peaks: list[int] = []

    @property
    def peak(self) -> int:
        """Return the bytes of all chunks at their largest."""
        return sum(self._peaks)

    def padded(self, n_bytes: int) -> int:
        """Round up to the alignment."""
        return (n_bytes + self._mask) & ~self._mask

    def take(self, n_bytes: int) -> tuple[int, int]:
        """Return the chunk and offset of the best fitting free block."""
        size = self.padded(n_bytes)
        chunk, index = self._best(size)
        if chunk < 0:
            chunk, index = self._last(size)
        if chunk < 0:
            chunk, index = self._grow(size), 0
        blocks = self._free[chunk]
        block = blocks[index]
        offset = block[0]
        block[0] += size
        block[1] -= size
        if not block[1]:
            del blocks[index]
        self._peaks[chunk] = max(self._peaks[chunk], offset + size)
        return chunk, offset

    def give(self, chunk: int, offset: int, n_bytes: int) -> None:
        """Free a block and join it with its neighbours."""
        size = self.padded(n_bytes)
        blocks = self._free[chunk]
        for i, block in enumerate(blocks):
            if block[0] + block[1] == offset:
                block[1] += size
                if i + 1 < len(blocks) and block[0] + block[1] == blocks[i + 1][0]:
                    block[1] += blocks.pop(i + 1)[1]
                return
            if offset + size == block[0]:
                block[0] = offset
                block[1] += size
                if i and blocks[i - 1][0] + blocks[i - 1][1] == offset:
                    blocks[i - 1][1] += blocks.pop(i)[1]
                return
        place = next((i for i, block in enumerate(blocks) if block[0] >= offset), len(blocks))
        blocks.insert(place, [offset, size])

    def _best(self, size: int) -> tuple[int, int]:
        """Return the smallest block that fits, the last of a chunk aside."""
        found = (-1, -1)
        for c, blocks in enumerate(self._free):
            best = _ENDLESS << 1
            for i in range(len(blocks) - 1):
                if size <= blocks[i][1] <= best:
                    found = (c, i)
                    best = blocks[i][1]
        return found

    def _last(self, size: int) -> tuple[int, int]:
        """Return a chunk's last block, where the chunk grows least."""
        found = (-1, -1)
        best = -_ENDLESS
        for c, blocks in enumerate(self._free):
            if not blocks or blocks[-1][1] < size:
                continue
            reuse = self._peaks[c] - blocks[-1][0] - size
            if (best < 0 and reuse > best) or 0 <= reuse < best:
                found = (c, len(blocks) - 1)
                best = reuse
        return found

    def _grow(self, size: int) -> int:
        is_last = len(self._free) == _MAX_CHUNKS - 1
        self._free.append([[0, _ENDLESS if is_last else max(size, self._chunk_bytes)]])
        self._peaks.append(0)
        return len(self._free) - 1


def allocate(
    nodes: Sequence[tuple[Tensor, int]], leafs: Sequence[tuple[Tensor, int]], arenas: list[Arena]
) -> None:
    """Walk through the graph as ggml_gallocr_alloc_graph_impl does; each with its backend."""
    for leaf, backend in leafs:
        _place(leaf, backend, arenas)
    for node, backend in nodes:
        if node.view is not None and node.op != "NONE":
            node.view.views += 1
        if node.is_input:
            _place(node, backend, arenas)
        for source in node.src:
            source.children += 1
            if source.is_input:
                _place(source, backend, arenas)
    for node, backend in nodes:
        for source in node.src:
            if source.view is None and source.buffer is None and not source.is_own:
                _place(source, backend, arenas)
        if node.view is None and node.buffer is None and not node.is_own:
            _place(node, backend, arenas)
        for source in node.src:
            source.children -= 1
            if source.children or source.views:
                continue
            if source.view is None:
                if source.is_own:
                    _free(source, arenas)
                continue
            base = source.view
            base.views -= 1
            if not base.views and not base.children and base.is_own:
                _free(base, arenas)


def _place(one: Tensor, backend: int, arenas: list[Arena]) -> None:
    if one.buffer is not None or one.is_own or one.view is not None:
        return
    one.is_own = True
    if one.op in _MAY_REUSE and _reuses(one, arenas):
        return
    one.place = backend
    one.chunk, one.offset = arenas[backend].take(one.n_bytes)


def _reuses(one: Tensor, arenas: list[Arena]) -> bool:
    """Take a source's memory where it is the last to use it and of the same layout."""
    for parent in one.src:
        # a view owns nothing, so what is behind it is never reused
        if not parent.is_own or parent.is_output or parent.children != 1 or parent.views:
            continue
        if parent.kind != one.kind or parent.ne != one.ne or parent.nb != one.nb:
            continue
        parent.is_own = False
        one.place, one.chunk, one.offset = parent.place, parent.chunk, parent.offset
        _free_rest(one, parent, arenas[one.place])
        return True
    return False


def _free_rest(one: Tensor, parent: Tensor, arena: Arena) -> None:
    old, new = arena.padded(parent.n_bytes), arena.padded(one.n_bytes)
    if old > new:
        arena.give(one.chunk, one.offset + new, old - new)


def _free(one: Tensor, arenas: list[Arena]) -> None:
    if one.is_output:
        return
    arenas[one.place].give(one.chunk, one.offset, one.n_bytes)
    one.is_own = False
