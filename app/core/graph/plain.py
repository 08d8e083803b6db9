"""Graphs of the plain transformers: Llama and its relatives, Phi-3, Gemma 2 and 3, gpt-oss."""

from app.core.graph import build as g
from app.core.graph.attend import Cache, attention, qkv, rope
from app.core.graph.net import Net
from app.core.graph.tensor import Tensor


def caches(net: Net) -> tuple[Cache, Cache | None]:
    """Return the full cache and the windows' (build_attn_inp_kv, build_attn_inp_kv_iswa)."""
    full = Cache(net, net.batch.full_cells, is_swa=False)
    if not net.shape.has_swa:
        return full, None
    return full, Cache(net, net.batch.window_cells, is_swa=True)


def of_layer(net: Net, both: tuple[Cache, Cache | None], il: int) -> Cache:
    """Return the cache of a block."""
    full, window = both
    return window if window is not None and net.shape.layers[il].is_swa else full


def factors(net: Net, il: int) -> Tensor | None:
    """Return the rope factors, which lie beside their block."""
    for name in ("rope_freqs", "rope_factors_long", "rope_factors_short"):
        found = net.weight(f"{name}.{il}")
        if found is not None:
            return found
    return None


def chosen(net: Net, il: int, ids: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Keep the rows that are put out, after the last block's attention."""
    return tuple(g.get_rows(x, ids) for x in tensors) if net.is_last(il) else tensors


def llama(net: Net) -> None:
    """Llama, Mixtral, Qwen 2, Qwen 3 and Qwen 3 MoE (llama.cpp, qwen2.cpp, qwen3moe.cpp)."""
    current = net.embeddings()
    positions, both = net.position_input(), caches(net)
    ids = net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        layer = net.shape.layers[il]
        current = net.norm(current, f"{name}attn_norm", il)
        q, k, v = qkv(net, il, current, layer.head_k, n_kv=layer.n_head_kv)
        q = _head_norm(net, q, f"{name}attn_q_norm", il)
        q = rope(net, q, positions, factors(net, il))
        k = _head_norm(net, k, f"{name}attn_k_norm", il)
        k = rope(net, k, positions, factors(net, il))
        cache = of_layer(net, both, il)
        current = attention(
            net, cache, il, q, k, v, out=f"{name}attn_output", is_swa_order=both[1] is not None
        )
        current, before = chosen(net, il, ids, current, before)
        before = g.add(current, before)
        current = net.norm(before, f"{name}ffn_norm", il)
        if net.weight(f"{name}ffn_gate_inp.weight") is None:
            current = net.feed_forward(current, name)
        else:
            current = net.experts(current, name)
        current = g.add(current, before)
    net.finish(current)


def _head_norm(net: Net, current: Tensor, name: str, il: int) -> Tensor:
    return current if net.weight(f"{name}.weight") is None else net.norm(current, name, il)


def phi3(net: Net) -> None:
    """Phi-3 and Phi-4: one matrix for Q, K and V, one for gate and up."""
    current = net.embeddings()
    positions, both = net.position_input(), caches(net)
    ids = net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        layer = net.shape.layers[il]
        current = net.norm(current, f"{name}attn_norm", il)
        q, k, v = qkv(net, il, current, layer.head_k, n_kv=layer.n_head_kv)
        q = rope(net, q, positions, factors(net, il))
        k = rope(net, k, positions, factors(net, il))
        q = g.scale(q)
        cache = of_layer(net, both, il)
        current = attention(net, cache, il, q, k, v, out=f"{name}attn_output")
        current, before = chosen(net, il, ids, current, before)
        before = g.add(current, before)
        current = net.norm(before, f"{name}ffn_norm", il)
        if net.weight(f"{name}ffn_gate_inp.weight") is None:
            current = net.feed_forward(current, name, act="halves")
        else:
            current = net.experts(current, name)
        current = g.add(before, current)
    net.finish(current)


def gemma3(net: Net) -> None:
    """Gemma 2 and 3: norms before and after each part."""
    is_2 = net.shape.arch == "gemma2"
    current = net.embeddings(is_scaled=not is_2)
    if is_2:
        current = g.scale(current)
    positions, both = net.position_input(), caches(net)
    ids = net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        layer = net.shape.layers[il]
        current = net.norm(current, f"{name}attn_norm", il)
        q, k, v = qkv(net, il, current, layer.head_k, n_kv=layer.n_head_kv)
        q = rope(net, _head_norm(net, q, f"{name}attn_q_norm", il), positions)
        k = rope(net, _head_norm(net, k, f"{name}attn_k_norm", il), positions)
        q = g.scale(q)
        cache = of_layer(net, both, il)
        current = attention(
            net, cache, il, q, k, v, out=f"{name}attn_output", is_swa_order=both[1] is not None
        )
        current, before = chosen(net, il, ids, current, before)
        current = net.norm(current, f"{name}post_attention_norm", il)
        before = g.add(current, before)
        current = net.norm(before, f"{name}ffn_norm", il)
        current = net.feed_forward(current, name)
        current = net.norm(current, f"{name}post_ffw_norm")
        current = g.add(current, before)
    net.finish(current, is_capped=is_2 or bool(net.trait("final_logit_softcapping")))


def gpt_oss(net: Net) -> None:
    """gpt-oss: sinks, experts with biases (openai-moe.cpp)."""
    current = net.embeddings()
    positions, both = net.position_input(), caches(net)
    ids = net.output_input()
    for il in net.blocks:
        name, before = f"blk.{il}.", current
        layer = net.shape.layers[il]
        current = net.norm(current, f"{name}attn_norm", il)
        q, k, v = qkv(net, il, current, layer.head_k, n_kv=layer.n_head_kv)
        q, k = rope(net, q, positions), rope(net, k, positions)
        current = attention(
            net, of_layer(net, both, il), il, q, k, v, out=f"{name}attn_output",
            sinks=net.weight(f"{name}attn_sinks.weight"), is_swa_order=True,
        )  # fmt: skip
        if not net.batch.keeps_hidden:
            current, before = chosen(net, il, ids, current, before)
        before = g.add(current, before)
        current = net.norm(before, f"{name}post_attention_norm", il)
        current = net.experts(current, name, gating="late", is_normed=False)
        current = g.add(current, before)
    if net.batch.keeps_hidden:
        current.is_output = True
        current = g.get_rows(current, ids)
    net.finish(current)
