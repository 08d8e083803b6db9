"""Graphs of models with a state: Mamba, the hybrids with it, LFM2, Qwen3-Next and Qwen3.5."""

from app.core.eras import Change
from app.core.graph import build as g
from app.core.graph.attend import Cache, attention, qkv, rope
from app.core.graph.net import Net
from app.core.graph.plain import chosen
from app.core.graph.recur import (
    States,
    cell,
    convolved,
    gated_delta,
    load,
    mamba_1,
    mamba_2,
    short_convolution,
    ssm_conv,
    states_input,
)
from app.core.graph.tensor import Tensor

_SIGMOID = 2  # LLAMA_EXPERT_GATING_FUNC_TYPE_SIGMOID


def _is_recurrent(net: Net, il: int) -> bool:
    return bool(net.shape.layers[il].r_values)


def _plain_cache(net: Net) -> Cache:
    return Cache(net, net.batch.full_cells, is_swa=False)


def mamba(net: Net) -> None:
    """mamba.cpp, Mamba and Mamba-2."""
    current = net.embeddings()
    states, ids = states_input(net), net.output_input()
    block = mamba_2 if net.shape.arch == "mamba2" else mamba_1
    for il in net.blocks:
        before = current
        current = block(net, states, il, net.norm(current, f"blk.{il}.attn_norm", il))
        current, before = chosen(net, il, ids, current, before)
        current = g.add(current, before)
    net.finish(current)


def granite(net: Net) -> None:
    """granite-hybrid.cpp."""
    current = net.embeddings()
    states, cache, ids = states_input(net), _plain_cache(net), net.output_input()
    positions = net.position_input()
    has_rope = net.trait("rope.scaling.finetuned") or not net.has_trait("rope.scaling.finetuned")
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        current = net.norm(current, f"{name}attn_norm", il)
        if _is_recurrent(net, il):
            current = mamba_2(net, states, il, current)
        else:
            current = _attention(net, cache, il, current, positions if has_rope else None)
        current, before = chosen(net, il, ids, current, before)
        current = _scaled(net, current)
        before = g.add(current, before)
        current = net.norm(before, f"{name}ffn_norm", il)
        if net.weight(f"{name}ffn_gate_inp.weight") is None:
            current = net.feed_forward(current, name)
        else:
            mixed = net.experts(current, name)
            if net.weight(f"{name}ffn_up_shexp.weight") is not None:
                mixed = g.add(mixed, net.feed_forward(current, name, suffix="_shexp"))
            current = mixed
        current = g.add(_scaled(net, current), before)
    net.finish(current)


def _scaled(net: Net, current: Tensor) -> Tensor:
    return g.scale(current) if net.trait("residual_scale") else current


def _attention(
    net: Net, cache: Cache, il: int, current: Tensor, positions: Tensor | None
) -> Tensor:
    layer = net.shape.layers[il]
    q, k, v = qkv(net, il, current, layer.head_k, n_kv=layer.n_head_kv)
    if positions is not None:
        q, k = rope(net, q, positions), rope(net, k, positions)
    return attention(net, cache, il, q, k, v, out=f"blk.{il}.attn_output")


def falcon_h1(net: Net) -> None:
    """falcon-h1.cpp: each block attends and has a state, both of the same input."""
    current = net.embeddings()
    positions = net.position_input()
    states, cache, ids = states_input(net), _plain_cache(net), net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        attended = net.norm(before, f"{name}attn_norm", il)
        attended = _attention(net, cache, il, attended, positions)
        state = mamba_2(net, states, il, net.norm(before, f"{name}attn_norm", il))
        before = g.add(g.add(attended, state), before)
        (before,) = chosen(net, il, ids, before)
        current = net.feed_forward(net.norm(before, f"{name}ffn_norm", il), name)
        current = g.add(current, before)
    net.finish(current)


def jamba(net: Net) -> None:
    """jamba.cpp: Mamba blocks and some that attend without rotation; some have experts."""
    current = net.embeddings()
    states, cache, ids = states_input(net), _plain_cache(net), net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        current = net.norm(current, f"{name}attn_norm", il)
        if _is_recurrent(net, il):
            current = mamba_1(net, states, il, current)
        else:
            current = _attention(net, cache, il, current, None)
        current, before = chosen(net, il, ids, current, before)
        before = g.add(before, current)
        current = net.norm(before, f"{name}ffn_norm", il)
        if net.weight(f"{name}ffn_gate_inp.weight") is None:
            current = net.feed_forward(current, name)
        else:
            current = net.experts(current, name, is_normed=False)
        current = g.add(before, current)
    net.finish(current)


def nemotron(net: Net) -> None:
    """nemotron-h.cpp: each block is one of state, attention or feed forward."""
    current = net.embeddings()
    states, cache, ids = states_input(net), _plain_cache(net), net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        current = net.norm(current, f"{name}attn_norm", il)
        if _is_recurrent(net, il):
            current = mamba_2(net, states, il, current)
        elif not net.shape.layers[il].n_ff:
            current = _attention(net, cache, il, current, None)
        elif net.weight(f"{name}ffn_gate_inp.weight") is None:
            current = net.feed_forward(current, name, act="sqr")
        else:
            current = _nemotron_experts(net, name, current)
        if not net.batch.keeps_hidden:
            current, before = chosen(net, il, ids, current, before)
        current = g.add(current, before)
    net.finish_hidden(current, ids)


def _nemotron_experts(net: Net, name: str, current: Tensor) -> Tensor:
    small = net.weight(f"{name}ffn_latent_down.weight")
    inner = current if small is None else g.mul_mat(small, current)
    logits = g.mul_mat(net.need(f"{name}ffn_gate_inp.weight"), current)
    is_normed = bool(net.trait("expert_weights_norm"))
    mixed = net.experts(
        inner, name, gating="sigmoid", is_normed=is_normed, act="sqr", logits=logits
    )
    large = net.weight(f"{name}ffn_latent_up.weight")
    mixed = mixed if large is None else g.mul_mat(large, mixed)
    return g.add(mixed, net.feed_forward(current, name, suffix="_shexp", act="sqr"))


def lfm2(net: Net) -> None:
    """lfm2.cpp."""
    current = net.embeddings()
    states, cache = states_input(net), _plain_cache(net)
    positions, ids = net.position_input(), net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        current = net.norm(current, f"{name}attn_norm", il)
        if _is_recurrent(net, il):
            current = short_convolution(net, states, il, current)
        else:
            layer = net.shape.layers[il]
            q, k, v = qkv(net, il, current, layer.head_k, n_kv=layer.n_head_kv)
            q = net.norm(q, f"{name}attn_q_norm", il)
            k = net.norm(k, f"{name}attn_k_norm", il)
            q, k = rope(net, q, positions), rope(net, k, positions)
            current = attention(net, cache, il, q, k, v, out=f"{name}attn_output")
        current, before = chosen(net, il, ids, current, before)
        before = g.add(before, current)
        current = net.norm(before, f"{name}ffn_norm", il)
        if net.weight(f"{name}ffn_gate_inp.weight") is None:
            current = net.feed_forward(current, name)
        else:
            gating = "sigmoid" if net.trait("expert_gating_func") == _SIGMOID else "softmax"
            current = net.experts(current, name, gating=gating)
        current = g.add(before, current)
    net.finish(current, name="token_embd_norm")


def qwen_next(net: Net) -> None:
    """qwen3next.cpp, qwen35.cpp, qwen35moe.cpp: delta net, and attention with a gate."""
    current = net.embeddings()
    states, cache = states_input(net), _plain_cache(net)
    positions = net.position_input(1 if net.shape.arch == "qwen3next" else 4)
    ids = net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        current = net.norm(current, f"{name}attn_norm", il)
        net.graph.expand(current)
        if _is_recurrent(net, il):
            current = _delta_net(net, states, il, current)
        else:
            current = _gated_attention(net, cache, il, current, positions)
        if not net.batch.keeps_hidden:
            current, before = chosen(net, il, ids, current, before)
        before = g.add(current, before)
        current = net.norm(before, f"{name}post_attention_norm", il)
        current = g.add(_qwen_ffn(net, current, name), before)
    net.finish_hidden(current, ids)


def _qwen_ffn(net: Net, current: Tensor, name: str) -> Tensor:
    if net.weight(f"{name}ffn_gate_inp.weight") is None:
        return net.feed_forward(current, name)
    mixed = net.experts(current, name)
    if net.weight(f"{name}ffn_up_shexp.weight") is None:
        return mixed
    shared = net.feed_forward(current, name, suffix="_shexp")
    gate = g.unary(g.mul_mat(net.need(f"{name}ffn_gate_inp_shexp.weight"), current))
    return g.add(mixed, g.mul(shared, gate))


def _gated_attention(net: Net, cache: Cache, il: int, current: Tensor, positions: Tensor) -> Tensor:
    name, layer = f"blk.{il}.", net.shape.layers[il]
    head, n_kv = layer.head_k, layer.n_head_kv
    both, k, v = qkv(net, il, current, head, n_kv=n_kv, head_q=2 * head, is_reshaped=False)
    n_head = both.ne[0] // (2 * head)
    strides = (2 * head * 4, 2 * head * n_head * 4)
    is_next = net.shape.arch == "qwen3next"
    if is_next:
        both = g.reshape(both, 2 * head, n_head, net.u)
    ne = (head, n_head, net.u, 1)
    q = g.slice_of(both, ne, strides)
    gate = g.slice_of(both, ne, strides)
    q = net.norm(q, f"{name}attn_q_norm", il)
    k = net.norm(g.reshape(k, head, n_kv, net.u), f"{name}attn_k_norm", il)
    v = g.reshape(v, head, n_kv, net.u)
    q, k = rope(net, q, positions), rope(net, k, positions)
    current = attention(net, cache, il, q, k, v)
    gate = g.unary(g.cont(gate, head * n_head, net.u))
    return g.mul_mat(net.need(f"{name}attn_output.weight"), g.mul(current, gate))


def _delta_net(net: Net, states: States, il: int, current: Tensor) -> Tensor:
    shape, name, n, t = net.shape, f"blk.{il}.", net.batch.n_seqs, net.batch.seq_tokens
    k_dim, n_k, n_v = shape.state, shape.groups, shape.dt_rank
    v_dim = shape.inner // n_v
    mixed = g.mul_mat(net.need(f"{name}attn_qkv.weight"), current)
    mixed = g.reshape(mixed, mixed.ne[0], t, n)
    z = g.mul_mat(net.need(f"{name}attn_gate.weight"), current)
    beta, gate = _delta_gates(net, il, current)
    width = shape.inner + 2 * n_k * k_dim
    whole = convolved(net, states, il, mixed, width)
    cells = cell(net, il, shape.layers[il].s_values)
    before = g.reshape(load(net, states, cells), v_dim, v_dim, n_v, n)
    out = g.unary(ssm_conv(whole, net.need(f"{name}ssm_conv1d.weight")))
    row = width * 4
    keys = ((k_dim, n_k, t, n), (k_dim * 4, row, row * t))
    q, k = (_key_norm(net, g.slice_of(out, *keys)) for _ in range(2))
    v = g.slice_of(out, (v_dim, n_v, t, n), (v_dim * 4, row, row * t))
    if n_k != n_v and shape.arch == "qwen3next":
        q, k = (_interleaved(x, n_v // n_k, t, n) for x in (q, k))
    result = gated_delta(net, before, cells, (q, k, v, gate, beta))
    normed = net.norm(result, f"{name}ssm_norm", il)
    current = g.mul(normed, g.unary(g.reshape(z, v_dim, n_v, t, n)))
    current = g.reshape(current, v_dim * n_v, t, n)
    current = g.mul_mat(net.need(f"{name}ssm_out.weight"), current)
    return g.reshape(current, shape.n_embd, net.u)


def _key_norm(net: Net, x: Tensor) -> Tensor:
    """build_gdn_l2_norm."""
    if not net.batch.era.has(Change.NODES_OF_AUTUMN):
        return g.like("L2_NORM", x)
    return g.scale(g.rms_norm(x))


def _interleaved(x: Tensor, times: int, t: int, n: int) -> Tensor:
    repeated = g.repeat(g.reshape(x, x.ne[0], 1, x.ne[1], t * n), x.ne[0], times, x.ne[1], t * n)
    return g.reshape(repeated, x.ne[0], times * x.ne[1], t, n)


def _delta_gates(net: Net, il: int, current: Tensor) -> tuple[Tensor, Tensor]:
    """Return beta and gate; Qwen3-Next has one matrix for both, Qwen3.5 two."""
    name, n_v, n, t = f"blk.{il}.ssm_", net.shape.dt_rank, net.batch.n_seqs, net.batch.seq_tokens
    merged = net.weight(f"{name}ba.weight")
    if merged is not None:
        n_k = net.shape.groups
        both = g.reshape(g.mul_mat(merged, current), 2 * n_v // n_k, n_k, t, n)
        ne = (n_v // n_k, n_k, t, n)
        beta, alpha = (g.slice_of(both, ne, both.nb[1:]) for _ in range(2))
        beta, alpha = g.unary(g.cont(beta)), g.cont(alpha, n_v, t, n)
    else:
        beta = g.mul_mat(net.need(f"{name}beta.weight"), current)
        beta = g.unary(g.reshape(beta, 1, n_v, t, n))
        alpha = g.mul_mat(net.need(f"{name}alpha.weight"), current)
        alpha = g.reshape(alpha, n_v, t, n)
    alpha = g.unary(g.add(alpha, net.need(f"{name}dt.bias")))
    gate = g.mul(alpha, net.need(f"{name}a"))
    return g.reshape(beta, 1, n_v, t, n), g.reshape(gate, 1, n_v, t, n)
