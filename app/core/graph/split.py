"""The scheduler: which backend computes a node, and what is copied (ggml-backend.cpp, 11434).

The names of the passes are those of ggml_backend_sched_split_graph.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from app.core.graph.build import Graph, is_view_op
from app.core.graph.tensor import NO_BACKEND, Tensor

_PIPELINE_COPIES = 4  # GGML_SCHED_MAX_COPIES
_NO_CHOICE = frozenset({"ROPE", "FLASH_ATTN_EXT"})  # their weights are too small to decide


@dataclass(frozen=True, slots=True)
class Backend:
    """What the scheduler knows of a backend: the buffers it reads and the nodes it can compute."""

    own_buffer: str  # of what it computes
    buffers: frozenset[str]
    alignment: int
    chunk_bytes: int | None = None  # the largest single buffer, None = no limit
    can: Callable[[Tensor], bool] | None = None  # None: everything
    offloads: Callable[[Tensor], bool] | None = None  # op offload; None: nothing
    reorders: Callable[[Sequence[Tensor]], list[Tensor]] | None = None  # its graph_optimize
    alloc_bytes: Callable[[Tensor], int] | None = None  # None: the tensor's bytes

    def takes(self, node: Tensor) -> bool:
        """Tell whether the backend can compute a node."""
        return self.can is None or self.can(node)


@dataclass(slots=True)
class _Split:
    """A part of the graph on one backend, and what is copied to it."""

    backend: int
    nodes: list[Tensor] = field(default_factory=list)
    inputs: list[Tensor] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """The graph with its copies, each tensor with its backend, ready to be allocated."""

    nodes: list[tuple[Tensor, int]]
    leafs: list[tuple[Tensor, int]]
    n_splits: int


class Scheduler:
    """Assigns and splits one graph; the last backend is the processor."""

    def __init__(
        self,
        backends: Sequence[Backend],
        host_buffers: frozenset[str],
        *,
        is_pipelined: bool,
        most_inputs: int | None = None,
    ) -> None:
        self._backends = backends
        self._cpu = len(backends) - 1
        self._host_buffers = host_buffers  # those op offload copies from
        self._n_copies = _PIPELINE_COPIES if is_pipelined else 1
        self._most_inputs = most_inputs  # of a split, None = no limit

    def plan(self, graph: Graph) -> Plan:
        """Return the split graph."""
        self._assign(graph)
        for is_gpu_only, is_up in ((True, False), (True, True), (False, False), (False, True)):
            self._expand(graph.nodes, is_gpu_only=is_gpu_only, is_up=is_up)
        self._choose_rest(graph.nodes)
        self._assign_sources(graph.nodes)
        splits = self._split(graph.nodes)
        inputs = self._graph_inputs(graph.leafs) if self._n_copies > 1 else []
        return self._copied(splits, graph.leafs, inputs)

    def _assign(self, graph: Graph) -> None:
        """Pass 1: tensors that lie in a buffer, inputs, and operations with weights."""
        for one in (*graph.leafs, *graph.nodes):
            if one.backend == NO_BACKEND:
                one.backend = self._from_current(one)

    def _from_current(self, one: Tensor) -> int:
        base = one if one.view is None else one.view
        if base.buffer is not None:
            backend = self._of_buffer(base.buffer, one)
            if backend != NO_BACKEND:
                return backend
        if one.is_input:
            return self._cpu
        if one.op in _NO_CHOICE:
            return NO_BACKEND
        for source in one.src:
            if source.buffer is not None and source.is_weight:
                return self._of_weight(source, one)
        return NO_BACKEND

    def _of_weight(self, weight: Tensor, node: Tensor) -> int:
        found = self._of_buffer(weight.buffer or "", node)
        if found == self._cpu and weight.buffer in self._host_buffers:
            for b in range(self._cpu):
                backend = self._backends[b]
                if backend.offloads is not None and backend.offloads(node) and backend.takes(node):
                    return b
        return found

    def _of_buffer(self, buffer: str, node: Tensor) -> int:
        for b, backend in enumerate(self._backends):
            if buffer in backend.buffers and backend.takes(node):
                return b
        return NO_BACKEND

    def _expand(self, nodes: list[Tensor], *, is_gpu_only: bool, is_up: bool) -> None:
        """Pass 2: the neighbours of what is assigned."""
        current = NO_BACKEND
        for node in reversed(nodes) if is_up else nodes:
            if is_view_op(node.op):
                continue
            if node.backend != NO_BACKEND:
                skips = is_gpu_only and node.backend == self._cpu
                current = NO_BACKEND if skips else node.backend
            elif current != NO_BACKEND and self._backends[current].takes(node):
                node.backend = current

    def _choose_rest(self, nodes: list[Tensor]) -> None:
        """Pass 3: what no neighbour could take goes where most of its sources can be read."""
        for node in nodes:
            if node.backend != NO_BACKEND or is_view_op(node.op):
                continue
            most = -1
            for b, backend in enumerate(self._backends):
                if backend.takes(node):
                    n = sum(self._is_known(s) and self._reads(s, b) for s in node.src)
                    if n > most:
                        most = n
                        node.backend = b

    @staticmethod
    def _is_known(one: Tensor) -> bool:
        return one.backend != NO_BACKEND or (one.view or one).backend != NO_BACKEND

    def _reads(self, one: Tensor, backend: int) -> bool:
        """Tell whether a backend can read a tensor where it is (sched_buffer_supported)."""
        base = one if one.view is None else one.view
        buffer = base.buffer
        if buffer is None:
            at = one.backend if one.backend != NO_BACKEND else base.backend
            if at == NO_BACKEND:
                return False
            buffer = self._backends[at].own_buffer
        return buffer in self._backends[backend].buffers

    def _assign_sources(self, nodes: list[Tensor]) -> None:
        """Pass 4: sources without a backend follow what they are looked at by."""
        for node in nodes:
            if node.view is not None and node.backend == NO_BACKEND:
                node.backend = node.view.backend
            for source in node.src:
                if source.backend == NO_BACKEND:
                    source.backend = node.backend if source.view is None else source.view.backend
            if node.backend == NO_BACKEND:
                takers = (b for b, backend in enumerate(self._backends) if backend.takes(node))
                node.backend = next(takers, self._cpu)

    def _split(self, nodes: list[Tensor]) -> list[_Split]:
        """Pass 5: cut where the backend changes, or where a weight is copied in."""
        first = next((n.backend for n in nodes if not is_view_op(n.op)), self._cpu)
        splits = [_Split(first)]
        for node in nodes:
            split = splits[-1]
            if not is_view_op(node.op):
                if node.backend != split.backend or self._needs_own(node, split):
                    split = _Split(node.backend)
                    splits.append(split)
                self._copy_sources(node, split)
            split.nodes.append(node)
        return splits

    def _needs_own(self, node: Tensor, split: _Split) -> bool:
        """Tell whether a copied weight starts a split, so that earlier ones can be let go.

        So does any copy where no more inputs may be added.
        """
        is_full = len(split.inputs) == self._most_inputs
        return bool(split.inputs) and any(
            (source.is_weight or (is_full and split.backend not in (source.copies or {})))
            and source.backend != split.backend
            and not self._reads(source, split.backend)
            for source in node.src
        )

    def _copy_sources(self, node: Tensor, split: _Split) -> None:
        for j, source in enumerate(node.src):
            if source.backend == split.backend or self._reads(source, split.backend):
                continue
            if source.copies is None:
                source.copies = {}
            if split.backend not in source.copies:
                source.copies[split.backend] = [
                    self._copy_of(source) for _ in range(self._n_copies)
                ]
                split.inputs.append(source)
            node.src[j] = source.copies[split.backend][0]

    def _copy_of(self, one: Tensor) -> Tensor:
        copy = Tensor("NONE", one.kind, one.ne, nb=one.nb)
        copy.is_input = copy.is_output = self._n_copies > 1
        return copy

    def _graph_inputs(self, leafs: list[Tensor]) -> list[Tensor]:
        """Pass 6: with a pipeline, each input exists as often as there are copies."""
        found = [leaf for leaf in leafs if leaf.is_input]
        for leaf in found:
            if leaf.copies is None:
                leaf.copies = {}
            if leaf.backend not in leaf.copies:
                leaf.is_output = True
                more = [self._copy_of(leaf) for _ in range(self._n_copies - 1)]
                leaf.copies[leaf.backend] = [leaf, *more]
        return found

    def _copied(self, splits: list[_Split], leafs: list[Tensor], inputs: list[Tensor]) -> Plan:
        nodes: list[tuple[Tensor, int]] = []
        for split in splits:
            for one in split.inputs:
                # so that it is not freed before it is copied
                keeper = Tensor("NONE", one.kind, one.ne, nb=one.nb, src=(one,), view=one)
                nodes.extend(((keeper, one.backend), (self._first_copy(one, split), split.backend)))
            reorders = self._backends[split.backend].reorders
            ordered = split.nodes if reorders is None else reorders(split.nodes)
            nodes += [(node, node.backend) for node in ordered]
        first = list(self._leafs_first(splits, inputs)) if self._n_copies > 1 else []
        return Plan(nodes, first + [(leaf, leaf.backend) for leaf in leafs], len(splits))

    @staticmethod
    def _first_copy(one: Tensor, split: _Split) -> Tensor:
        assert one.copies is not None  # made in pass 5
        return one.copies[split.backend][0]

    @staticmethod
    def _leafs_first(splits: list[_Split], inputs: list[Tensor]) -> Iterator[tuple[Tensor, int]]:
        for one in inputs:
            for copy in (one.copies or {})[one.backend]:
                yield copy, one.backend
        for split in splits:
            for one in split.inputs:
                for copy in (one.copies or {})[split.backend]:
                    yield copy, split.backend
