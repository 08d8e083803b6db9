"""The ggml calls that build a graph, by their names there (ggml.c, build 11434)."""

from app.core.graph.tensor import Shape4, Tensor, row_bytes, shape, strides

_VIEWS = frozenset({"VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"})


def is_view_op(op: str) -> bool:
    """Tell whether an operation only looks at memory (ggml_is_view_op)."""
    return op in _VIEWS


class Graph:
    """Nodes and leafs in the order in which ggml_build_forward_expand finds them."""

    def __init__(self) -> None:
        self.nodes: list[Tensor] = []
        self.leafs: list[Tensor] = []

    def expand(self, one: Tensor) -> None:
        """Add a tensor and, before it, all it is made from."""
        if one.is_visited:
            return
        one.is_visited = True
        for source in one.src:
            if not source.is_visited:
                self.expand(source)
        (self.leafs if one.op == "NONE" else self.nodes).append(one)


def given(kind: str, *ne: int) -> Tensor:
    """Return an input of the graph (ggml_set_input)."""
    one = Tensor("NONE", kind, shape(*ne))
    one.is_input = True
    return one


def fixed(kind: str, ne: Shape4, buffer: str, *, is_weight: bool) -> Tensor:
    """Return a weight or a cache that already lies in a buffer."""
    one = Tensor("NONE", kind, ne)
    one.buffer = buffer
    one.is_weight = is_weight
    return one


def like(op: str, a: Tensor, *others: Tensor) -> Tensor:
    """Return a result of a's type and shape: scale, norms, unary operations, rope and others."""
    return Tensor(op, a.kind, a.ne, src=(a, *others))


def new(op: str, ne: Shape4, *src: Tensor, kind: str = "f32") -> Tensor:
    """Return a result of its own shape."""
    return Tensor(op, kind, ne, src=src)


def _view(op: str, a: Tensor, ne: Shape4, nb: Shape4, *src: Tensor) -> Tensor:
    base = a.view if a.view is not None else a
    return Tensor(op, a.kind, ne, nb=nb, src=src or (a,), view=base)


def written(op: str, into: Tensor, *src: Tensor) -> Tensor:
    """Return a result that lies in another tensor: cpy, set_rows, scale_inplace, clamp."""
    return _view(op, into, into.ne, into.nb, *src)


def reshape(a: Tensor, *ne: int) -> Tensor:
    """ggml_reshape."""
    full = shape(*ne)
    return _view("RESHAPE", a, full, strides(a.kind, full))


def slice_of(a: Tensor, ne: Shape4, nb: tuple[int, ...] = ()) -> Tensor:
    """ggml_view: nb gives the strides of dimensions 1 to 3 as far as they are not plain.

    Where it begins changes no size, so it is left out.
    """
    full = list(strides(a.kind, ne))
    for i in range(1, 4):
        if i <= len(nb):
            full[i] = nb[i - 1]
        elif nb:
            full[i] = full[i - 1] * ne[i - 1]
    return _view("VIEW", a, ne, (full[0], full[1], full[2], full[3]))


def permute(a: Tensor, *axes: int) -> Tensor:
    """ggml_permute: dimension i of a becomes dimension axes[i]."""
    ne, nb = [0] * 4, [0] * 4
    for i, axis in enumerate(axes):
        ne[axis], nb[axis] = a.ne[i], a.nb[i]
    return _view("PERMUTE", a, (ne[0], ne[1], ne[2], ne[3]), (nb[0], nb[1], nb[2], nb[3]))


def transpose(a: Tensor) -> Tensor:
    """ggml_transpose."""
    ne, nb = a.ne, a.nb
    return _view(
        "TRANSPOSE", a, (ne[1], ne[0], ne[2], ne[3]), (nb[1], nb[0], nb[2], nb[3])
    )  # fmt: skip


def cont(a: Tensor, *ne: int) -> Tensor:
    """ggml_cont, and with a shape ggml_cont_2d to 4d."""
    return Tensor("CONT", a.kind, shape(*ne) if ne else a.ne, src=(a,))


def mul_mat(a: Tensor, b: Tensor) -> Tensor:
    """ggml_mul_mat."""
    return new("MUL_MAT", (a.ne[1], b.ne[1], b.ne[2], b.ne[3]), a, b)


def mul_mat_id(experts: Tensor, b: Tensor, ids: Tensor) -> Tensor:
    """ggml_mul_mat_id."""
    return new("MUL_MAT_ID", (experts.ne[1], ids.ne[0], b.ne[2], 1), experts, b, ids)


def get_rows(a: Tensor, rows: Tensor) -> Tensor:
    """ggml_get_rows."""
    kind = "i32" if a.kind == "i32" else "f32"
    return new("GET_ROWS", (a.ne[0], rows.ne[0], rows.ne[1], rows.ne[2]), a, rows, kind=kind)


def set_rows(into: Tensor, rows: Tensor, ids: Tensor) -> Tensor:
    """ggml_set_rows."""
    return written("SET_ROWS", into, rows, ids, into)


def cpy(a: Tensor, into: Tensor) -> Tensor:
    """ggml_cpy."""
    return written("CPY", into, a, into)


def concat(a: Tensor, b: Tensor, axis: int) -> Tensor:
    """ggml_concat."""
    ne = list(a.ne)
    ne[axis] += b.ne[axis]
    return new("CONCAT", (ne[0], ne[1], ne[2], ne[3]), a, b, kind=a.kind)


def repeat(a: Tensor, *ne: int) -> Tensor:
    """ggml_repeat_4d."""
    return new("REPEAT", shape(*ne), a, kind=a.kind)


def add(a: Tensor, b: Tensor) -> Tensor:
    """ggml_add."""
    return like("ADD", a, b)


def mul(a: Tensor, b: Tensor) -> Tensor:
    """ggml_mul."""
    return like("MUL", a, b)


def rms_norm(a: Tensor) -> Tensor:
    """ggml_rms_norm."""
    return like("RMS_NORM", a)


def scale(a: Tensor) -> Tensor:
    """ggml_scale."""
    return like("SCALE", a)


def unary(a: Tensor) -> Tensor:
    """Any of silu, gelu, sigmoid, tanh, relu, exp, neg and softplus."""
    return like("UNARY", a)


def glu(a: Tensor, b: Tensor | None = None) -> Tensor:
    """Any gated unit: of two tensors, or of the halves of one."""
    if b is not None:
        return Tensor("GLU", a.kind, a.ne, src=(a, b))
    return Tensor("GLU", a.kind, (a.ne[0] // 2, *a.ne[1:]), src=(a,))


def sum_rows(a: Tensor) -> Tensor:
    """ggml_sum_rows, and ggml_mean."""
    return new("SUM_ROWS", (1, a.ne[1], a.ne[2], a.ne[3]), a)


def top_k(a: Tensor, n: int) -> Tensor:
    """ggml_argsort_top_k: a view of the sorted indices."""
    order = Tensor("ARGSORT", "i32", a.ne, src=(a,))
    return slice_of(order, (n, *order.ne[1:]), order.nb[1:])


def row_size(a: Tensor, n_values: int) -> int:
    """Return the bytes of n values of a's type."""
    return row_bytes(a.kind, n_values)
