"""Graph of DeepSeek 2 and 3: one latent row per token instead of K and V (deepseek2.cpp)."""

from app.core.graph import build as g
from app.core.graph.attend import Cache, attention, latent_attention, rope
from app.core.graph.net import Net
from app.core.graph.plain import chosen
from app.core.graph.tensor import Tensor, row_bytes

_SIGMOID = 2  # LLAMA_EXPERT_GATING_FUNC_TYPE_SIGMOID
_V3_BLOCKS = 61  # without the key, DeepSeek-V3 is known by its length


def deepseek2(net: Net) -> None:
    """Build the graph."""
    current = net.embeddings()
    scale = g.given("f32", 1, 1, net.u) if net.trait("attention.temperature_scale") else None
    positions, cache = net.position_input(), Cache(net, net.batch.full_cells, is_swa=False)
    ids = net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        current = net.norm(current, f"{name}attn_norm", il)
        current = _attention(net, cache, il, current, (positions, scale))
        current, before = chosen(net, il, ids, current, before)
        before = g.add(current, before)
        current = net.norm(before, f"{name}ffn_norm", il)
        if il < net.shape.n_lead_dense or net.weight(f"{name}ffn_gate_inp.weight") is None:
            current = net.feed_forward(current, name)
        else:
            mixed = net.experts(
                current,
                name,
                gating=_gating(net),
                is_normed=bool(net.trait("expert_weights_norm")),
            )
            current = g.add(mixed, net.feed_forward(current, name, suffix="_shexp"))
        current = g.add(current, before)
    net.finish(current)


def _gating(net: Net) -> str:
    given = net.trait("expert_gating_func")
    is_v3 = not given and net.shape.n_layer_all == _V3_BLOCKS
    return "sigmoid" if given == _SIGMOID or is_v3 else "softmax"


def _attention(
    net: Net, cache: Cache, il: int, current: Tensor, inputs: tuple[Tensor, Tensor | None]
) -> Tensor:
    name, (positions, scale) = f"blk.{il}.", inputs
    latent = net.need(f"{name}attn_kv_a_norm.weight").ne[0]
    if net.weight(f"{name}attn_q.weight") is None:
        q = g.mul_mat(net.need(f"{name}attn_q_a.weight"), current)
        q = net.norm(q, f"{name}attn_q_a_norm", il)
        q = g.mul_mat(net.need(f"{name}attn_q_b.weight"), q)
    else:
        q = g.mul_mat(net.need(f"{name}attn_q.weight"), current)
    head = q.ne[0] // net.shape.n_head
    q = g.reshape(q, head, net.shape.n_head, net.u)
    both = g.mul_mat(net.need(f"{name}attn_kv_a_mqa.weight"), current)
    turned = both.ne[0] - latent
    row = row_bytes(both.kind, both.ne[0])
    kv = g.slice_of(both, (latent, net.u, 1, 1), (row,))
    k_pe = g.slice_of(both, (turned, 1, net.u, 1), (row, row))
    k_pe = rope(net, k_pe, positions)
    kv = net.norm(kv, f"{name}attn_kv_a_norm", il)
    if not net.shape.is_mla:
        return _as_heads(net, cache, il, (q, kv, k_pe), inputs)
    plain = head - turned
    nope = g.slice_of(q, (plain, net.shape.n_head, net.u, 1), q.nb[1:3])
    q_pe = g.slice_of(q, (turned, net.shape.n_head, net.u, 1), q.nb[1:3])
    q_pe = rope(net, q_pe, positions)
    nope = g.mul_mat(net.need(f"{name}attn_k_b.weight"), g.permute(nope, 0, 2, 1, 3))
    q = g.concat(g.permute(nope, 0, 2, 1, 3), q_pe, 0)
    k = g.concat(g.reshape(kv, latent, 1, net.u), k_pe, 0)
    if scale is not None:
        q = g.mul(q, scale)
    v_b = net.need(f"{name}attn_v_b.weight")
    return latent_attention(net, cache, il, q, k, out=f"{name}attn_output", v_mla=v_b)


def _as_heads(
    net: Net,
    cache: Cache,
    il: int,
    parts: tuple[Tensor, Tensor, Tensor],
    inputs: tuple[Tensor, Tensor | None],
) -> Tensor:
    """Without the keys of compressed attention the rows are unpacked to full heads."""
    name, n, (positions, scale) = f"blk.{il}.", net.shape.n_head, inputs
    q, kv, k_pe = parts
    unpacked = g.mul_mat(net.need(f"{name}attn_kv_b.weight"), kv)
    per_head, turned = unpacked.ne[0] // n, k_pe.ne[0]
    plain = q.ne[0] - turned
    strides = (per_head * 4, per_head * 4 * n)
    k = g.slice_of(unpacked, (plain, n, net.u, 1), strides)
    v = g.cont(g.slice_of(unpacked, (per_head - plain, n, net.u, 1), strides))
    q = rope(net, q, positions)
    k = g.concat(k, g.repeat(k_pe, turned, n, net.u), 0)
    if scale is not None:
        q = g.mul(q, scale)
    return attention(net, cache, il, q, k, v, out=f"{name}attn_output")
