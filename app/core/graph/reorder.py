"""The order in which Vulkan computes a split (ggml_vk_graph_optimize, build 11434).

Independent nodes are moved together, patterns that one shader computes stay together. The order
decides which tensors live at the same time. The early rules are those of spring 2026, which build
10434 still has: fewer patterns, and two nodes depend on each other only by source or base.
"""

from collections.abc import Sequence

from app.core.graph.tensor import Tensor

_EMPTY = frozenset({"NONE", "RESHAPE", "TRANSPOSE", "VIEW", "PERMUTE"})
_PATTERNS = (
    ("SOFT_MAX", "RESHAPE", "ARGSORT", "VIEW", "GET_ROWS", "RESHAPE", "SUM_ROWS", "CLAMP", "DIV",
     "RESHAPE"),
    ("UNARY", "RESHAPE", "ADD", "ARGSORT", "VIEW", "GET_ROWS", "RESHAPE", "SUM_ROWS", "CLAMP",
     "DIV", "RESHAPE"),
    ("SOFT_MAX", "RESHAPE", "ARGSORT", "VIEW", "GET_ROWS"),
    ("ARGSORT", "VIEW", "GET_ROWS", "RESHAPE", "SOFT_MAX", "RESHAPE"),
)  # fmt: skip
_LATE_PATTERNS = (
    *_PATTERNS,
    ("RMS_NORM", "MUL", "ADD", "MUL"),
    ("RMS_NORM", "MUL", "ADD"),
    ("RMS_NORM", "MUL", "ROPE", "VIEW", "SET_ROWS"),
    ("RMS_NORM", "VIEW", "SET_ROWS"),
    ("ROPE", "VIEW", "SET_ROWS"),
)  # fmt: skip
_FUSED_APART = frozenset({("RMS_NORM", "MUL"), ("UNARY", "MUL")})
_EARLY_FUSED = ("RMS_NORM", "MUL")
_FUSED_NEXT = frozenset({
    ("MUL_MAT", "ADD"), ("MUL_MAT_ID", "ADD_ID"), ("MUL_MAT_ID", "MUL"), ("ADD", "ADD"),
    ("SSM_CONV", "ADD"), ("SSM_CONV", "UNARY"),
})  # fmt: skip
_LOOK_AHEAD = 20
_PULL_AHEAD = 15
_EARLY_STORE_AHEAD = 10


def reordered(nodes: Sequence[Tensor]) -> list[Tensor]:
    """Return the nodes of a split in Vulkan's order."""
    return _Order(nodes, is_early=False).run()


def reordered_early(nodes: Sequence[Tensor]) -> list[Tensor]:
    """Return the nodes of a split in the order of build 10434."""
    return _Order(nodes, is_early=True).run()


class _Order:
    """The new order of one split while it is made."""

    def __init__(self, nodes: Sequence[Tensor], *, is_early: bool) -> None:
        self._nodes = nodes
        self._is_early = is_early
        self._patterns = _PATTERNS if is_early else _LATE_PATTERNS
        self._depends = _shares if is_early else _depends
        self._n = len(nodes)
        self._used = [False] * self._n
        self._done: set[int] = set()  # identities of what is in the new order
        self._first = 0
        self.result: list[Tensor] = []

    def run(self) -> list[Tensor]:
        """Return the nodes in their new order."""
        while self._first < self._n:
            if not self._keeps_pattern():
                self._take_set()
            while self._first < self._n and self._used[self._first]:
                self._first += 1
        return self.result

    def _matches(self, pattern: tuple[str, ...], start: int) -> bool:
        nodes, used = self._nodes, self._used
        if start + len(pattern) > self._n:
            return False
        return all(
            nodes[start + j].op == op and not used[start + j] for j, op in enumerate(pattern)
        )

    def _keeps_pattern(self) -> bool:
        for pattern in self._patterns:
            if self._matches(pattern, self._first):
                for j in range(self._first, self._first + len(pattern)):
                    self._push(j)
                return True
        return False

    def _push(self, j: int) -> None:
        self.result.append(self._nodes[j])
        self._done.add(id(self._nodes[j]))
        self._used[j] = True

    def _take_set(self) -> None:
        chosen = [self._first]
        end = min(self._first + _LOOK_AHEAD, self._n)
        for j in range(self._first + 1, end):
            node = self._nodes[j]
            if self._used[j] or node.op in _EMPTY:
                continue
            if any(self._matches(pattern, j) for pattern in self._patterns):
                continue
            if self._is_free(j, chosen[-1]):
                chosen.append(j)
                self._pull_followers(j, chosen)
        if self._nodes[chosen[-1]].op != "ADD":
            self._take_views(chosen, end)
        for j in chosen:
            self._push(j)

    def _is_free(self, j: int, last: int) -> bool:
        """Tell whether a node depends on nothing that is still to come."""
        node = self._nodes[j]
        for c in range(self._first, j):
            if self._used[c] or not self._depends(node, self._nodes[c]):
                continue
            pair = (self._nodes[c].op, node.op)
            if c != last or not self._is_fused(c, j, pair):
                return False
        return True

    def _is_fused(self, c: int, j: int, pair: tuple[str, str]) -> bool:
        if j == c + 1 and (pair in _FUSED_NEXT or pair == _EARLY_FUSED):
            return True
        is_apart = not self._is_early and pair in _FUSED_APART
        return is_apart and self._is_empty_between(c + 1, j)

    def _is_empty_between(self, low: int, high: int) -> bool:
        return all(self._used[v] or self._nodes[v].op in _EMPTY for v in range(low, high))

    def _pull_followers(self, j: int, chosen: list[int]) -> None:
        """Pull forward what one shader computes with a node that was just chosen."""
        node, before = self._nodes[j], self._nodes[j - 1]
        pair = (before.op, node.op)
        at = j
        if pair == ("RMS_NORM", "MUL"):
            at = self._pull(j, chosen, "ROPE", needs_ready=True) or j
        if self._nodes[at].op == "ROPE" or (not self._is_early and node.op == "RMS_NORM"):
            self._pull_store(at, chosen)
        if pair == ("MUL_MAT_ID", "ADD_ID"):
            self._pull(j, chosen, "MUL", needs_done=True)
        if pair == ("MUL_MAT", "ADD"):
            self._pull(j, chosen, "ADD", needs_done=True)
        if pair == ("SSM_CONV", "ADD"):
            self._pull(j, chosen, "UNARY")
        if node.op == "UNARY" and not self._is_early:
            self._pull_product(j, chosen)

    def _pull(
        self, j: int, chosen: list[int], op: str, *, needs_ready: bool = False,
        needs_done: bool = False,
    ) -> int | None:  # fmt: skip
        for k in range(j + 1, min(j + _PULL_AHEAD, self._n)):
            other = self._nodes[k]
            if other.op != op or other.src[0] is not self._nodes[j]:
                continue
            if needs_ready and any(source.op != "NONE" for source in other.src[1:]):
                continue
            if needs_done and not self._is_ready(other.src[1]):
                continue
            chosen.append(k)
            self._used[k] = True
            return k
        return None

    def _is_ready(self, one: Tensor) -> bool:
        return one.op == "NONE" or id(one) in self._done

    def _pull_product(self, j: int, chosen: list[int]) -> None:
        node = self._nodes[j]
        for k in range(j + 1, min(j + _PULL_AHEAD, self._n)):
            product = self._nodes[k]
            if product.op != "MUL" or all(source is not node for source in product.src):
                continue
            other = product.src[1] if product.src[0] is node else product.src[0]
            if self._is_ready(other) and other.ne == node.ne:
                chosen.append(k)
                self._used[k] = True
                return

    def _pull_store(self, at: int, chosen: list[int]) -> None:
        view = -1
        ahead = _EARLY_STORE_AHEAD if self._is_early else _PULL_AHEAD
        for k in range(at + 1, min(at + ahead, self._n)):
            node = self._nodes[k]
            if self._used[k] and not self._is_early:
                continue
            if view < 0 and node.op == "VIEW" and node.src[0] is self._nodes[at]:
                view = k
            elif view >= 0 and node.op == "SET_ROWS" and node.src[0] is self._nodes[view]:
                if self._is_early or self._can_store(at, view, k):
                    chosen += [view, k]
                    self._used[view] = self._used[k] = True
                return

    def _can_store(self, at: int, view: int, rows: int) -> bool:
        return not any(
            not self._used[c]
            and c != view
            and self._nodes[c].op not in _EMPTY
            and self._depends(self._nodes[rows], self._nodes[c])
            for c in range(at + 1, rows)
        )

    def _take_views(self, chosen: list[int], end: int) -> None:
        inside = set(chosen)
        for j in range(self._first + 1, end):
            node = self._nodes[j]
            if self._used[j] or node.op not in _EMPTY:
                continue
            if all(
                self._used[c] or c in inside or not self._depends(node, self._nodes[c])
                for c in range(self._first, j)
            ):
                chosen.append(j)
                inside.add(j)


def _depends(node: Tensor, on: Tensor) -> bool:
    """is_src_of: a source, or the same memory."""
    base = on.view or on
    own = node.view or node
    if own is base:
        return True
    is_plain = node.op not in _EMPTY and on.op not in _EMPTY
    for source in node.src:
        if source is on or (is_plain and (source.view or source) is base):
            return True
    return is_plain and any((source.view or source) is own for source in on.src)


def _shares(node: Tensor, on: Tensor) -> bool:
    """is_src_of in the early rules: a source, or a view of the same tensor."""
    return (node.view or node) is (on.view or on) or any(one is on for one in node.src)
