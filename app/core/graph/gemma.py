"""Graphs of Gemma 3n and Gemma 4: per-layer embeddings, shared caches, alternating updates."""

from app.core.graph import build as g
from app.core.graph.attend import Cache, attention, qkv, rope
from app.core.graph.net import Net
from app.core.graph.plain import caches, of_layer
from app.core.graph.tensor import Tensor

_UPDATES = 4  # hparams.n_altup
_SPARSE_LAYERS = 10  # n_layer_sparsity


def _per_layer_input(net: Net, current: Tensor) -> Tensor:
    """build_inp_per_layer and project_per_layer_inputs."""
    width = net.shape.per_layer_dim
    n = net.shape.n_layer
    found = g.get_rows(net.need("per_layer_token_embd.weight"), g.given("i32", net.u))
    found = g.scale(g.reshape(found, width, n, net.u))
    net.graph.expand(found)
    projected = g.scale(g.mul_mat(net.need("per_layer_model_proj.weight"), current))
    projected = net.norm(g.reshape(projected, width, n, net.u), "per_layer_proj_norm")
    found = g.scale(g.add(projected, found))
    return g.cont(g.permute(found, 0, 2, 1, 3))


def _slice(x: Tensor) -> Tensor:
    return g.slice_of(x, (x.ne[0], x.ne[1], 1, 1), (g.row_size(x, x.ne[0]),))


def _owner(net: Net, il: int) -> int | None:
    """Return the block whose cache a block without one reuses, None when it has its own."""
    layers = net.shape.layers
    if layers[il].owns_cache:
        return None
    # the last two with their own: a window's, then a full one (reuse in llama-model.cpp)
    return sum(x.owns_cache for x in layers) - (2 if layers[il].is_swa else 1)


def gemma4(net: Net) -> None:
    """gemma4.cpp, without its experts' variants of norms where a block has none."""
    current = net.embeddings(is_scaled=True)
    positions, both = net.position_input(), caches(net)
    ids = net.output_input()
    per_layer = None
    if net.weight("per_layer_token_embd.weight") is not None:
        per_layer = _per_layer_input(net, current)
    for il in net.blocks:
        current = _gemma4_block(net, il, current, (positions, ids), both, per_layer)
    net.finish_hidden(current, ids, is_capped=bool(net.trait("final_logit_softcapping")))


def _gemma4_block(  # noqa: PLR0917 - one block of the graph
    net: Net, il: int, before: Tensor, inputs: tuple[Tensor, Tensor],
    both: tuple[Cache, Cache | None], per_layer: Tensor | None,
) -> Tensor:  # fmt: skip
    name, (positions, ids) = f"blk.{il}.", inputs
    takes_rows = net.is_last(il) and not net.batch.keeps_hidden
    current = net.norm(before, f"{name}attn_norm", il)
    current = _gemma4_attention(net, il, current, positions, both)
    if takes_rows:
        current, before = g.get_rows(current, ids), g.get_rows(before, ids)
    current = net.norm(current, f"{name}post_attention_norm", il)
    before = g.add(current, before)
    if net.weight(f"{name}ffn_gate_inp.weight") is None:
        current = net.feed_forward(net.norm(before, f"{name}ffn_norm", il), name)
    else:
        current = _gemma4_experts(net, before, il)
    current = g.add(net.norm(current, f"{name}post_ffw_norm"), before)
    if per_layer is not None:
        before = current
        current = g.unary(g.mul_mat(net.need(f"{name}inp_gate.weight"), current))
        own = _slice(per_layer)
        current = g.mul(current, g.get_rows(own, ids) if takes_rows else own)
        current = g.mul_mat(net.need(f"{name}proj.weight"), current)
        current = g.add(before, net.norm(current, f"{name}post_norm", il))
    scalar = net.weight(f"{name}layer_output_scale.weight")
    return current if scalar is None else g.mul(current, scalar)


def _gemma4_attention(
    net: Net, il: int, current: Tensor, positions: Tensor, both: tuple[Cache, Cache | None]
) -> Tensor:
    name, layer = f"blk.{il}.", net.shape.layers[il]
    head, n_kv = layer.head_k, layer.n_head_kv
    more = None if layer.is_swa else net.weight(f"rope_freqs.{il}")
    q = net.linear(f"{name}attn_q", current)
    q = g.reshape(q, head, q.ne[0] // head, net.u)
    q = rope(net, net.norm(q, f"{name}attn_q_norm", il), positions, more)
    cache, owner = of_layer(net, both, il), _owner(net, il)
    out = f"{name}attn_output"
    if owner is not None:
        return attention(
            net, cache, il, q, None, None, out=out, is_swa_order=True, from_layer=owner
        )
    k = net.linear(f"{name}attn_k", current)
    has_v = net.weight(f"{name}attn_v.weight") is not None
    v = net.linear(f"{name}attn_v", current) if has_v else k
    k, v = g.reshape(k, head, n_kv, net.u), g.reshape(v, head, n_kv, net.u)
    k = net.norm(k, f"{name}attn_k_norm", il)
    v = g.rms_norm(v)
    k = rope(net, k, positions, more)
    return attention(net, cache, il, q, k, v, out=out, is_swa_order=True)


def _gemma4_experts(net: Net, before: Tensor, il: int) -> Tensor:
    name = f"blk.{il}."
    shared = net.feed_forward(net.norm(before, f"{name}ffn_norm", il), name)
    shared = net.norm(shared, f"{name}post_ffw_norm_1", il)
    current = net.norm(before, f"{name}pre_ffw_norm_2", il)
    router = g.mul(g.scale(g.rms_norm(before)), net.need(f"{name}ffn_gate_inp.scale"))
    logits = g.mul_mat(net.need(f"{name}ffn_gate_inp.weight"), router)
    current = net.experts(current, name, logits=logits)
    return g.add(shared, net.norm(current, f"{name}post_ffw_norm_2", il))


def gemma3n(net: Net) -> None:
    """gemma3n.cpp."""
    current = net.embeddings(is_scaled=True)
    positions, both = net.position_input(), caches(net)
    per_layer = _per_layer_input(net, current)
    current = _widened(net, current)
    for il in net.blocks:
        current = _gemma3n_block(net, il, current, positions, both, per_layer)
    goal = _magnitude(_slice(current))
    rest = _rest(net, current)
    back = g.mul_mat(net.need("altup_unembd_proj.weight"), rest)
    size = _magnitude(back)
    back = g.like("DIV", g.mul(back, goal), size)
    current = _slice(current)
    for _ in range(_UPDATES - 1):
        current = g.add(current, _slice(back))
    current = g.get_rows(g.scale(current), net.output_input())
    net.finish(current, is_capped=True)


def _widened(net: Net, current: Tensor) -> Tensor:
    goal = _magnitude(current)
    copies = g.repeat(current, net.shape.n_embd, net.u, _UPDATES - 1)
    added = g.mul_mat(net.need("altup_proj.weight"), copies)
    size = _magnitude(added)
    return g.concat(current, g.like("DIV", g.mul(added, goal), size), 2)


def _magnitude(x: Tensor) -> Tensor:
    return g.like("SQRT", g.sum_rows(g.like("SQR", x)))


def _rest(net: Net, x: Tensor) -> Tensor:
    return g.slice_of(x, (net.shape.n_embd, net.u, _UPDATES - 1, 1), x.nb[1:3])


def _modalities(net: Net, x: Tensor, il: int) -> Tensor:
    inputs = g.scale(net.norm(x, f"blk.{il}.altup_router_norm", il))
    return g.unary(g.mul_mat(net.need(f"blk.{il}.altup_router.weight"), inputs))


def _predicted(net: Net, current: Tensor, il: int) -> Tensor:
    modalities = _modalities(net, _slice(current), il)
    weights = g.mul_mat(net.need(f"blk.{il}.altup_predict_coef.weight"), modalities)
    weights = g.reshape(weights, _UPDATES, _UPDATES, net.u)
    turned = g.cont(g.permute(current, 1, 2, 0, 3))
    found = g.cont(g.permute(g.mul_mat(turned, weights), 0, 2, 1, 3))
    return g.add(found, current)


def _corrected(net: Net, predictions: Tensor, activated: Tensor, il: int) -> Tensor:
    modalities = _modalities(net, activated, il)
    news = g.like("SUB", activated, _slice(predictions))
    weights = g.scale(g.mul_mat(net.need(f"blk.{il}.altup_correct_coef.weight"), modalities))
    weights = g.cont(g.transpose(weights), 1, net.u, _UPDATES)
    news = g.repeat(news, net.shape.n_embd, net.u, _UPDATES)
    return g.add(g.mul(news, weights), predictions)


def _gemma3n_block(  # noqa: PLR0917 - one block of the graph
    net: Net, il: int, current: Tensor, positions: Tensor,
    both: tuple[Cache, Cache | None], per_layer: Tensor,
) -> Tensor:  # fmt: skip
    name = f"blk.{il}."
    predictions = _predicted(net, current, il)
    active = _slice(predictions)
    normed = net.norm(active, f"{name}attn_norm", il)
    low = g.mul_mat(net.need(f"{name}laurel_l.weight"), normed)
    low = g.mul_mat(net.need(f"{name}laurel_r.weight"), low)
    low = g.add(net.norm(low, f"{name}laurel_post_norm", il), normed)
    current = _gemma3n_attention(net, il, normed, positions, both)
    current = g.add(net.norm(current, f"{name}post_attention_norm", il), active)
    before = g.scale(g.add(current, low))
    current = _gemma3n_ffn(net, il, net.norm(before, f"{name}ffn_norm", il))
    gated = g.add(net.norm(current, f"{name}post_ffw_norm"), before)
    corrected = _corrected(net, predictions, gated, il)
    first = g.mul(_slice(corrected), net.need(f"{name}altup_correct_scale.weight"))
    first = g.unary(g.mul_mat(net.need(f"{name}inp_gate.weight"), first))
    first = g.mul(first, _slice(per_layer))
    first = g.mul_mat(net.need(f"{name}proj.weight"), first)
    first = net.norm(first, f"{name}post_norm", il)
    rest = g.add(_rest(net, corrected), first)
    return g.concat(_slice(corrected), rest, 2)


def _gemma3n_attention(
    net: Net, il: int, current: Tensor, positions: Tensor, both: tuple[Cache, Cache | None]
) -> Tensor:
    name, layer = f"blk.{il}.", net.shape.layers[il]
    cache, owner, out = of_layer(net, both, il), _owner(net, il), f"{name}attn_output"
    if owner is not None:
        q = net.linear(f"{name}attn_q", current)
        q = g.reshape(q, layer.head_k, q.ne[0] // layer.head_k, net.u)
        q = rope(net, net.norm(q, f"{name}attn_q_norm", il), positions)
        return attention(
            net, cache, il, q, None, None, out=out, is_swa_order=True, from_layer=owner
        )
    q, k, v = qkv(net, il, current, layer.head_k, n_kv=layer.n_head_kv)
    q = net.norm(q, f"{name}attn_q_norm", il)
    k = net.norm(k, f"{name}attn_k_norm", il)
    v = g.rms_norm(v)
    q, k = rope(net, q, positions), rope(net, k, positions)
    return attention(net, cache, il, q, k, v, out=out, is_swa_order=True)


def _gemma3n_ffn(net: Net, il: int, current: Tensor) -> Tensor:
    name = f"blk.{il}."
    up = g.mul_mat(net.need(f"{name}ffn_up.weight"), current)
    gate = g.mul_mat(net.need(f"{name}ffn_gate.weight"), current)
    if il < _SPARSE_LAYERS:
        mean = g.sum_rows(gate)
        spread = g.sum_rows(g.like("SQR", g.like("SUB", gate, mean)))
        spread = g.like("SQRT", g.scale(spread))
        gate = g.unary(g.like("SUB", gate, g.add(mean, g.scale(spread))))
    current = g.mul(up, g.unary(gate))
    return g.mul_mat(net.need(f"{name}ffn_down.weight"), current)
