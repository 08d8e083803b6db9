"""Layers with a state: Mamba, short convolution, delta net (mamba-base, delta-net-base)."""

from collections.abc import Callable
from dataclasses import dataclass

from app.core.eras import Change
from app.core.graph import build as g
from app.core.graph.net import Net
from app.core.graph.tensor import Tensor

Gather = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class States:
    """The input that says which state each sequence continues (build_rs_inp)."""

    all: Tensor
    main: Tensor
    tail: Tensor
    rest: Tensor  # of sequences outside of the batch; none when the worst case is reserved


def states_input(net: Net) -> States:
    """build_rs_inp: every sequence has its cell when the worst case is reserved."""
    n = net.batch.n_seqs
    ids = g.given("i32", n)
    main = g.slice_of(ids, (n, 1, 1, 1))
    tail = g.slice_of(ids, (max(n - 1, 0), 1, 1, 1))
    return States(ids, main, tail, g.slice_of(ids, (0, 1, 1, 1)))


def cell(net: Net, il: int, n_values: int) -> Tensor:
    """Return the states of a layer, one cell per sequence."""
    ne = (n_values, net.batch.n_seqs, 1, 1)
    return g.fixed("f32", ne, net.homes.cache_buffers[il], is_weight=False)


def load(net: Net, states: States, of: Tensor, gather: Gather | None = None) -> Tensor:
    """build_rs: clear one state, gather those of this batch, keep the others."""
    size, n = of.ne[0], net.batch.n_seqs
    flat = g.reshape(of, size, of.ne[1])
    zero = g.slice_of(flat, (size, 1, 1, 1))
    net.graph.expand(g.written("SCALE", zero, zero))
    if not net.batch.era.has(Change.NODES_OF_AUTUMN):
        found = g.get_rows(flat, states.main) if gather is None else gather(flat, states.main)
        net.graph.expand(found)
        _keep_rest(net, g.get_rows(flat, states.rest), of)
        return found
    gathered = g.get_rows(flat, states.all if gather is None else states.tail)
    if gather is None:
        found = g.slice_of(gathered, (size, n, 1, 1), (gathered.nb[1],))
    else:
        found = gather(flat, states.main)
    net.graph.expand(found)
    _keep_rest(net, g.slice_of(gathered, (size, 0, 1, 1), (gathered.nb[1],)), of)
    return found


def _keep_rest(net: Net, rest: Tensor, of: Tensor) -> None:
    """Copy the states of sequences outside of the batch."""
    net.graph.expand(g.cpy(rest, g.slice_of(of, (of.ne[0], 0, 1, 1), (of.nb[1],))))


def _save(net: Net, last: Tensor, into: Tensor, *ne: int) -> None:
    """Write the last state back into its cell."""
    a, b, c, d = (*ne, 1, 1, 1)[:4]
    strides = (into.nb[1],) if b > 1 or c > 1 else ()
    net.graph.expand(g.cpy(last, g.slice_of(into, (a, b, c, d), strides)))


def convolved(net: Net, states: States, il: int, x: Tensor, width: int) -> Tensor:
    """Put the last columns before this batch's and keep the new last ones (build_conv_state)."""
    kernel = net.shape.layers[il].r_values // width
    cells = cell(net, il, kernel * width)
    n = net.batch.n_seqs
    before = g.reshape(load(net, states, cells), kernel, width, n)
    whole = g.concat(before, g.transpose(x), 0)
    last = g.slice_of(whole, (kernel, width, n, 1), whole.nb[1:3])
    _save(net, last, cells, kernel * width, n)
    return whole


def short_convolution(net: Net, states: States, il: int, current: Tensor) -> Tensor:
    """LFM2's build_shortconv_block."""
    name, n, width = f"blk.{il}.shortconv.", net.batch.n_seqs, net.shape.n_embd
    current = g.reshape(current, width, net.batch.seq_tokens, n)
    bcx = g.mul_mat(net.need(f"{name}in_proj.weight"), current)
    ne = (width, *bcx.ne[1:])
    b, c, x = (g.slice_of(bcx, ne, bcx.nb[1:3]) for _ in range(3))
    product = g.mul(b, x)
    whole = convolved(net, states, il, product, width)
    out = ssm_conv(whole, net.need(f"{name}conv.weight"))
    y = g.mul_mat(net.need(f"{name}out_proj.weight"), g.mul(c, out))
    return g.reshape(y, y.ne[0], net.u)


def ssm_conv(x: Tensor, kernel: Tensor) -> Tensor:
    """ggml_ssm_conv."""
    return g.new("SSM_CONV", (x.ne[1], x.ne[0] - kernel.ne[0] + 1, x.ne[2], 1), x, kernel)


def mamba_1(net: Net, states: States, il: int, current: Tensor) -> Tensor:
    """build_mamba_layer."""
    shape, n, t = net.shape, net.batch.n_seqs, net.batch.seq_tokens
    name, inner, rank, state = f"blk.{il}.ssm_", shape.inner, shape.dt_rank, shape.state
    current = g.reshape(current, current.ne[0], t, n)
    xz = g.mul_mat(net.need(f"{name}in.weight"), current)
    ne = (inner, t, n, 1)
    x = g.slice_of(xz, ne, xz.nb[1:3])
    z = g.slice_of(xz, ne, xz.nb[1:3])
    whole = convolved(net, states, il, x, inner)
    x = ssm_conv(whole, net.need(f"{name}conv1d.weight"))
    x = g.unary(g.add(x, net.need(f"{name}conv1d.bias")))
    x_db = g.mul_mat(net.need(f"{name}x.weight"), x)
    dt = g.slice_of(x_db, (rank, t, n, 1), x_db.nb[1:3])
    strides = (state * x_db.nb[0], x_db.nb[1], x_db.nb[2])
    b = g.slice_of(x_db, (state, 1, t, n), strides)
    c = g.slice_of(x_db, (state, 1, t, n), strides)
    if net.trait("ssm.dt_b_c_rms") or net.weight(f"{name}dt_norm.weight") is not None:
        dt, b, c = (
            net.norm(y, f"{name}{part}_norm", il) for y, part in ((dt, "dt"), (b, "b"), (c, "c"))
        )
    else:
        dt = g.cont(dt)
    dt = g.add(g.mul_mat(net.need(f"{name}dt.weight"), dt), net.need(f"{name}dt.bias"))
    flat = g.reshape(x, 1, inner, t, n)
    y = _scan(net, states, il, (flat, dt, b, c), head_dim=1)
    y = g.slice_of(y, (inner, t, n, 1), (flat.nb[2], flat.nb[3]))
    y = g.add(y, g.mul(x, net.need(f"{name}d")))
    y = g.glu(g.cont(z), y)
    out = g.mul_mat(net.need(f"{name}out.weight"), y)
    return g.reshape(out, out.ne[0], net.u)


def mamba_2(net: Net, states: States, il: int, current: Tensor) -> Tensor:
    """build_mamba2_layer."""
    shape, n, t = net.shape, net.batch.n_seqs, net.batch.seq_tokens
    name, inner, state, groups = f"blk.{il}.ssm_", shape.inner, shape.state, shape.groups
    n_head = shape.dt_rank
    head = inner // n_head
    width = inner + 2 * groups * state
    is_flat = net.batch.era.has(Change.NODES_OF_AUTUMN)
    both = current if is_flat else g.reshape(current, current.ne[0], t, n)
    both = g.mul_mat(net.need(f"{name}in.weight"), both)
    if is_flat:
        both = g.reshape(both, both.ne[0], t, n)
    z = g.slice_of(both, (head, n_head, t, n), (head * 4, both.nb[1], both.nb[2]))
    xbc = g.slice_of(both, (width, t, n, 1), both.nb[1:3])
    dt = g.slice_of(both, (n_head, t, n, 1), both.nb[1:3])
    whole = convolved(net, states, il, xbc, width)
    xbc = ssm_conv(whole, net.need(f"{name}conv1d.weight"))
    xbc = g.unary(g.add(xbc, net.need(f"{name}conv1d.bias")))
    x = g.slice_of(xbc, (head, n_head, t, n), (head * 4, xbc.nb[1], xbc.nb[2]))
    strides = (state * 4, xbc.nb[1], xbc.nb[2])
    b = g.slice_of(xbc, (state, groups, t, n), strides)
    c = g.slice_of(xbc, (state, groups, t, n), strides)
    dt = g.add(g.cont(dt), net.need(f"{name}dt.bias"))
    y = _scan(net, states, il, (x, dt, b, c), head_dim=head)
    y = g.slice_of(y, (head, n_head, t, n), (x.nb[1], n_head * x.nb[1], t * n_head * x.nb[1]))
    y = g.add(y, g.mul(x, net.need(f"{name}d")))
    y = g.glu(g.cont(z), y)
    if net.weight(f"{name}norm.weight") is not None:
        y = net.norm(g.reshape(y, inner // groups, groups, t, n), f"{name}norm", il)
    if is_flat:
        return g.mul_mat(net.need(f"{name}out.weight"), g.reshape(y, inner, net.u))
    out = g.mul_mat(net.need(f"{name}out.weight"), g.reshape(y, inner, t, n))
    return g.reshape(out, out.ne[0], net.u)


def _scan(
    net: Net, states: States, il: int, parts: tuple[Tensor, Tensor, Tensor, Tensor], *,
    head_dim: int,
) -> Tensor:  # fmt: skip
    """Scan over the tokens and store the last states."""
    x, dt, b, c = parts
    state, n, inner = net.shape.state, net.batch.n_seqs, net.shape.inner
    size = state * inner
    cells = cell(net, il, size)
    a = net.need(f"blk.{il}.ssm_a")

    def gather(flat: Tensor, ids: Tensor) -> Tensor:
        ssm = g.reshape(flat, state, head_dim, inner // head_dim, flat.ne[1])
        ne = (x.n_values + size * n, 1, 1, 1)
        return g.new("SSM_SCAN", ne, ssm, x, dt, a, b, c, ids)

    y = load(net, states, cells, gather)
    if head_dim == 1:
        last = g.slice_of(y, (size * n, 1, 1, 1))
        net.graph.expand(g.cpy(last, g.slice_of(cells, (size * n, 1, 1, 1))))
    else:
        row = size * 4
        last = g.slice_of(y, (size, n, 1, 1), (row, row * n))
        net.graph.expand(g.cpy(last, g.slice_of(cells, (size, n, 1, 1), (cells.nb[1],))))
    return y


def gated_delta(
    net: Net, states: Tensor, cells: Tensor, parts: tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
) -> Tensor:
    """build_recurrent_attn with the fused operation; parts are q, k, v, gate and beta."""
    head, n_head, t, n = parts[2].ne
    ne = (head * n_head, t * n + head * n, 1, 1)
    result = g.new("GATED_DELTA_NET", ne, *parts, states)
    row = head * n_head * 4
    out = g.slice_of(result, (head, n_head, t, n), (head * 4, row, row * t))
    strides = (head * 4, head * head * 4, head * row)
    last = g.slice_of(result, (head, head, n_head, n), strides)
    size = head * head * n_head
    net.graph.expand(g.cpy(last, g.slice_of(cells, (size, n, 1, 1), (cells.nb[1],))))
    return out
