"""Attention with a KV cache, with windows, and compressed (llm_graph_context::build_attn)."""

from app.core import quants
from app.core.eras import Change
from app.core.graph import build as g
from app.core.graph.net import Net
from app.core.graph.tensor import Tensor, row_bytes

_ROTATION = 64


class Cache:
    """The inputs of one cache, full or of the windows, and its tensors by block."""

    def __init__(self, net: Net, cells: int, *, is_swa: bool) -> None:
        self._net = net
        batch, shape = net.batch, net.shape
        owners = [x for x in shape.layers if x.owns_cache and x.is_swa is is_swa]
        self.cells = cells
        self.is_transposed = batch.is_transposed
        self.k_rows = g.given("i64", net.u)
        self._widest = max((x.v_values for x in shape.layers), default=0)
        n_rows = net.u * (self._widest if self.is_transposed else 1)
        self.v_rows = None if shape.is_mla else g.given("i64", n_rows)
        self.mask = _mask(net, cells)
        self.k_rotation = self.v_rotation = None
        if not shape.is_mla and batch.era.has(Change.ROTATED_CACHE):
            model = next((x for x in shape.layers if not x.is_swa), shape.layers[0])
            k_heads, v_heads = {x.head_k for x in owners}, {x.head_v for x in owners}
            self.k_rotation = _rotation(batch.kind_k, k_heads, model.head_k, is_k=True)
            self.v_rotation = _rotation(batch.kind_v, v_heads, model.head_v, is_k=False)
        self._made: dict[int, tuple[Tensor, Tensor | None]] = {}

    def at(self, il: int) -> tuple[Tensor, Tensor | None]:
        """Return K and V of a block's cache; V None = K holds both."""
        if il not in self._made:
            net, layer = self._net, self._net.shape.layers[il]
            buffer, streams = net.homes.cache_buffers[il], net.batch.streams
            k = g.fixed(
                net.batch.kind_k, (layer.k_values, self.cells, streams, 1), buffer, is_weight=False
            )
            v = None
            if not net.shape.is_mla:
                width = self._widest if self.is_transposed else layer.v_values
                ne = (width, self.cells, streams, 1)
                v = g.fixed(net.batch.kind_v, ne, buffer, is_weight=False)
            self._made[il] = (k, v)
        return self._made[il]


def _mask(net: Net, cells: int) -> Tensor:
    """build_attn_inp_kq_mask: flash attention reads F16, which older builds made on the device."""
    batch = net.batch
    ne = (cells, net.u // batch.streams, 1, batch.streams)
    if batch.flash_attn and batch.era.has(Change.HALF_MASKS):
        return g.given("f16", *ne)
    mask = g.given("f32", *ne)
    return g.new("CPY", ne, mask, kind="f16") if batch.flash_attn else mask


def _rotation(kind: str, heads: set[int], of_model: int, *, is_k: bool) -> Tensor | None:
    """Return the matrix by which a quantised cache is rotated (llama-kv-cache.cpp)."""
    if quants.BY_NAME[kind].block_values == 1 or len(heads) != 1 or not _turns(of_model):
        return None
    n = _ROTATION
    while is_k and _turns(next(iter(heads)), 2 * n):
        n *= 2
    return g.given("f32", n, n)


def _turns(head: int, n: int = _ROTATION) -> bool:
    return head > 0 and head % n == 0


def rotated(current: Tensor, matrix: Tensor | None) -> Tensor:
    """llama_mul_mat_hadamard."""
    if matrix is None:
        return current
    n = matrix.ne[0]
    rows = current.n_values // n
    flat = g.reshape(current, n, rows) if current.is_contiguous else g.cont(current, n, rows)
    return g.reshape(g.mul_mat(matrix, flat), *current.ne)


def qkv(
    net: Net, il: int, current: Tensor, head: int, *, n_kv: int, head_q: int = 0,
    is_reshaped: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """build_qkv: Q, K and V as heads; head_q when Q's are wider, n_kv heads of K and V."""
    name = f"blk.{il}.attn_"
    wide = head_q or head
    if net.weight(f"{name}qkv.weight") is None:
        q, k, v = (net.linear(f"{name}{x}", current) for x in "qkv")
        if not is_reshaped:
            return q, k, v
        q = g.reshape(q, wide, q.ne[0] // wide, net.u)
        return q, g.reshape(k, head, n_kv, net.u), g.reshape(v, head, n_kv, net.u)
    both = net.linear(f"{name}qkv", current)
    n_q = both.ne[0] - 2 * head * n_kv
    if not is_reshaped:
        kv = (head * n_kv, net.u, 1, 1)
        q = g.cont(g.slice_of(both, (n_q, net.u, 1, 1), (both.nb[1],)))
        k = g.cont(g.slice_of(both, kv, (both.nb[1],)))
        return q, k, g.cont(g.slice_of(both, kv, (both.nb[1],)))
    nb = (g.row_size(both, head), both.nb[1])
    q = g.slice_of(both, (wide, n_q // wide, net.u, 1), (g.row_size(both, wide), both.nb[1]))
    k = g.slice_of(both, (head, n_kv, net.u, 1), nb)
    return q, k, g.slice_of(both, (head, n_kv, net.u, 1), nb)


def rope(net: Net, current: Tensor, positions: Tensor, factors: Tensor | None = None) -> Tensor:
    """ggml_rope_ext."""
    more = () if factors is None else (factors,)
    return g.like("ROPE", current, positions, *more)


def _copy_into(net: Net, current: Tensor, cache: Tensor) -> None:
    """Copy to where the free cells begin, as builds without row indexes do."""
    net.graph.expand(g.cpy(current, g.slice_of(cache, (current.n_values, 1, 1, 1))))


def store_k(net: Net, cache: Cache, il: int, k_cur: Tensor) -> None:
    """cpy_k: write this batch's K into the cache."""
    width = k_cur.ne[0] * k_cur.ne[1]
    rows = g.slice_of(k_cur, (width, k_cur.ne[2], 1, 1), (k_cur.nb[2],))
    k, _v = cache.at(il)
    if not net.batch.era.has(Change.ROW_INDEXES):
        _copy_into(net, k_cur, k)
        return
    if net.batch.streams > 1:
        k = g.reshape(k, width, cache.cells * net.batch.streams)
    net.graph.expand(g.set_rows(k, rows, cache.k_rows))


def store_v(net: Net, cache: Cache, il: int, v_cur: Tensor) -> None:
    """cpy_v: the same for V, which is transposed without flash attention."""
    width, n = v_cur.ne[0] * v_cur.ne[1], v_cur.ne[2]
    _k, v = cache.at(il)
    if v is None or cache.v_rows is None:
        raise KeyError("v")
    if not net.batch.era.has(Change.ROW_INDEXES):
        _copy_into(net, v_cur, v)
        return
    if not cache.is_transposed:
        rows = g.slice_of(v_cur, (width, n, 1, 1), (v_cur.nb[2],))
        if net.batch.streams > 1:
            v = g.reshape(v, width, cache.cells * net.batch.streams)
        net.graph.expand(g.set_rows(v, rows, cache.v_rows))
        return
    is_plain = row_bytes(v_cur.kind, width) == v_cur.nb[2]
    flat = g.reshape(v_cur, width, n) if is_plain else g.cont(v_cur, width, n)
    if width < v.ne[0]:
        flat = g.new("PAD", (v.ne[0], n, 1, 1), flat)
    column = g.reshape(flat, 1, flat.n_values)
    net.graph.expand(g.set_rows(g.reshape(v, 1, v.n_values), column, cache.v_rows))


def look_up(net: Net, cache: Cache, il: int, n_head_kv: int) -> tuple[Tensor, Tensor]:
    """get_k and get_v: the whole cache as heads."""
    layer = net.shape.layers[il]
    k, v = cache.at(il)
    n = net.batch.streams
    k_view = g.slice_of(
        k,
        (layer.head_k, n_head_kv, cache.cells, n),
        (row_bytes(k.kind, layer.head_k), k.nb[1], k.nb[2]),
    )
    if v is None:
        return k_view, k_view
    if not cache.is_transposed:
        strides = (row_bytes(v.kind, layer.head_v), v.nb[1], v.nb[2])
        return k_view, g.slice_of(v, (layer.head_v, n_head_kv, cache.cells, n), strides)
    strides = (
        row_bytes(v.kind, cache.cells * layer.head_v),
        row_bytes(v.kind, cache.cells),
        row_bytes(v.kind, cache.cells * v.ne[0]),
    )
    return k_view, g.slice_of(v, (cache.cells, n_head_kv, layer.head_v, n), strides)


def heads(  # noqa: PLR0917 - the arguments of build_attn_mha
    net: Net,
    il: int,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor,
    *,
    sinks: Tensor | None = None,
    v_mla: Tensor | None = None,
) -> Tensor:
    """build_attn_mha."""
    is_transposed = v.nb[1] > v.nb[2]
    n = k.ne[3]
    per = q.ne[2] // n
    q = g.slice_of(q, (q.ne[0], q.ne[1], per, n), (q.nb[1], q.nb[2], q.nb[2] * per))
    q, k, v = (g.permute(x, 0, 2, 1, 3) for x in (q, k, v))
    more = () if sinks is None else (sinks,)
    if net.batch.flash_attn:
        if is_transposed:
            v = g.transpose(v)
        k, v = (g.new("CPY", x.ne, x, kind="f16") if x.kind == "f32" else x for x in (k, v))
        ne = (v.ne[0], q.ne[2], q.ne[1], q.ne[3])
        current = g.new("FLASH_ATTN_EXT", ne, q, k, v, mask, *more)
        net.fused.append((il, current))
        if v_mla is not None:
            current = g.mul_mat(v_mla, g.permute(current, 0, 2, 1, 3))
            current = g.cont(g.permute(current, 0, 2, 1, 3))
        ne = current.ne
        current = g.reshape(current, ne[0] * ne[1], ne[2] * ne[3])
    else:
        current = _without_flash(net, q, k, v, mask, more, v_mla, is_transposed=is_transposed)
    net.graph.expand(current)
    return current


def _without_flash(  # noqa: PLR0917 - the terms of one formula
    net: Net, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, more: tuple[Tensor, ...],
    v_mla: Tensor | None, *, is_transposed: bool,
) -> Tensor:  # fmt: skip
    kq = g.mul_mat(k, q)
    if net.trait("attn_logit_softcapping"):
        kq = g.scale(g.unary(g.scale(kq)))
    kq = g.like("SOFT_MAX", kq, mask, *more)
    if not is_transposed:
        v = g.cont(g.transpose(v))
    kqv = g.mul_mat(v, kq)
    if v_mla is not None:
        kqv = g.mul_mat(v_mla, kqv)
    current = g.permute(kqv, 0, 2, 1, 3)
    ne = current.ne
    current = g.cont(current, ne[0] * ne[1], ne[2] * ne[3])
    if net.homes.cache_on_cpu:
        current.backend = net.homes.cpu
    return current


def attention(  # noqa: PLR0917 - the arguments of build_attn
    net: Net, cache: Cache, il: int, q: Tensor, k: Tensor | None, v: Tensor | None, *,
    out: str = "", sinks: Tensor | None = None, is_swa_order: bool = False,
    from_layer: int | None = None,
) -> Tensor:  # fmt: skip
    """build_attn for K and V caches; k None = an earlier block's cache is used (from_layer)."""
    q = rotated(q, cache.k_rotation)
    k = None if k is None else rotated(k, cache.k_rotation)
    v = None if v is None else rotated(v, cache.v_rotation)
    net.graph.expand(q)
    # a cache with windows adds K before V, a plain one after
    for one in (k, v) if is_swa_order else (v, k):
        if one is not None:
            net.graph.expand(one)
    if k is not None:
        store_k(net, cache, il, k)
    if v is not None:
        store_v(net, cache, il, v)
    owner = il if from_layer is None else from_layer
    k_all, v_all = look_up(net, cache, owner, net.shape.layers[owner].n_head_kv)
    current = heads(net, il, q, k_all, v_all, cache.mask, sinks=sinks)
    current = rotated(current, cache.v_rotation)
    return net.linear(out, current) if out else current


def latent_attention(
    net: Net, cache: Cache, il: int, q: Tensor, k: Tensor, *, out: str, v_mla: Tensor
) -> Tensor:
    """build_attn for compressed attention, where K holds both."""
    net.graph.expand(q)
    net.graph.expand(k)
    store_k(net, cache, il, k)
    k_all, _same = look_up(net, cache, il, 1)
    v_all = g.slice_of(k_all, (v_mla.ne[0], *k_all.ne[1:]), k_all.nb[1:])
    current = heads(net, il, q, k_all, v_all, cache.mask, v_mla=v_mla)
    return net.linear(out, current)
