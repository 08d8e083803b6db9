"""Graphs that differ from Llama's in norms, rotation, residuals or experts, by architecture.

What a block has is read from its tensors; what they do not tell stands in a Style, from the
architecture's file in src/models of build 11434.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.graph import build as g
from app.core.graph.attend import Cache, attention, qkv, rope
from app.core.graph.net import Net
from app.core.graph.plain import caches, chosen, factors, of_layer
from app.core.graph.tensor import Tensor

_SIGMOID, _LATE = 2, 3  # llama_expert_gating_func_type
_POSITIONS = 4  # GGML_MROPE_SECTIONS


@dataclass(frozen=True, slots=True)
class Style:
    """How an architecture differs from Llama.

    rope: all, windows (blocks with a window alone), mixed (windows where there are any, else all)
    or most (not every fourth). head_norm: before the rotation, after it, or wide (over all heads).
    residual: serial, or the order in which attention, feed forward and input are added.
    """

    norm: str = "RMS_NORM"
    has_factors: bool = False
    rope: str = "all"
    head_norm: str = "before"
    scales_input: bool = False
    scales_q: bool = False
    ffn_norm: str = "ffn_norm"
    act: str = "glu"
    residual: str = "serial"
    gating: str = "softmax"
    norms_weights: bool | None = True  # None = the header tells
    binds_last_norm: bool = False
    positions: int = 1


_STYLES: Mapping[str, Style] = {
    "glm4": Style(act="halves", binds_last_norm=True),
    "glm4moe": Style(ffn_norm="post_attention_norm", gating="sigmoid", norms_weights=None),
    "qwen2moe": Style(norms_weights=False),
    "command-r": Style(norm="NORM", residual="ffn input attention"),
    "cohere2": Style(norm="NORM", has_factors=True, rope="windows", residual="ffn input attention"),
    "olmo2": Style(head_norm="wide"),
    "olmoe": Style(head_norm="wide", norms_weights=False),
    "phi2": Style(norm="NORM", scales_q=True, residual="attention ffn input"),
    "stablelm": Style(norm="NORM"),
    "starcoder2": Style(norm="NORM"),
    "internlm2": Style(),
    "exaone4": Style(has_factors=True, rope="mixed"),
    "smollm3": Style(rope="most"),
    "hunyuan-dense": Style(has_factors=True, head_norm="after"),
    "hunyuan-moe": Style(has_factors=True, head_norm="after"),
    "ernie4_5": Style(),
    "ernie4_5-moe": Style(),
    "seed_oss": Style(ffn_norm="post_attention_norm"),
    "dots1": Style(norms_weights=None),
    "bailingmoe2": Style(norms_weights=None),
    "minimax-m2": Style(head_norm="wide"),
    "deepseek": Style(has_factors=True, norms_weights=False),
    "granite": Style(has_factors=True),
    "granitemoe": Style(has_factors=True),
    "mistral3": Style(has_factors=True),
    "qwen2vl": Style(positions=_POSITIONS),
    "qwen3vl": Style(positions=_POSITIONS),
    "qwen3vlmoe": Style(positions=_POSITIONS),
    "gemma": Style(scales_input=True, scales_q=True),
    "falcon": Style(norm="NORM", residual="ffn attention input"),
    "gptneox": Style(norm="NORM"),
}
ARCHITECTURES = tuple(_STYLES)


@dataclass(frozen=True, slots=True)
class _Inputs:
    positions: Tensor
    scale: Tensor | None  # of Q, by position
    both: tuple[Cache, Cache | None]
    ids: Tensor


def relative(net: Net) -> None:
    """Build the graph of one of the architectures above."""
    style = _STYLES[net.shape.arch]
    current = net.embeddings()
    if style.scales_input:
        current = g.scale(current)
    whole, deep = current, int(net.trait("n_deepstack_layers"))
    if deep:
        current = _part(net, whole)
    scale = g.given("f32", 1, 1, net.u) if net.trait("attention.temperature_scale") else None
    positions = net.position_input(style.positions)
    inputs = _Inputs(positions, scale, caches(net), net.output_input())
    for il in net.blocks:
        current = _block(net, style, il, current, inputs)
        if il < deep:
            current = g.add(current, _part(net, whole))
    net.logits(_norm(net, style, current, "output_norm"))


def _part(net: Net, whole: Tensor) -> Tensor:
    """Return one layer's share of embeddings that carry several (deepstack)."""
    return g.slice_of(whole, (net.shape.n_embd, net.u, 1, 1), (whole.nb[1],))


def _block(net: Net, style: Style, il: int, before: Tensor, inputs: _Inputs) -> Tensor:
    name = f"blk.{il}."
    has_norm = net.weight(f"{name}attn_norm.weight") is not None
    normed = _norm(net, style, before, f"{name}attn_norm", il) if has_norm else before
    read = normed
    if net.weight(f"{name}attn_norm_2.weight") is not None:
        read = _norm(net, style, before, f"{name}attn_norm_2", il)
    current = _attention(net, style, il, read, inputs)
    current, before, normed = chosen(net, il, inputs.ids, current, before, normed)
    if style.residual != "serial":
        parts = {"attention": current, "input": before}
        parts["ffn"] = _feed_forward(net, style, normed, name)
        first, second, third = (parts[one] for one in style.residual.split())
        return g.add(g.add(first, second), third)
    if net.trait("use_parallel_residual"):
        other = _feed_forward(net, style, _norm(net, style, before, f"{name}ffn_norm", il), name)
        return g.add(g.add(other, before), current)
    if style.ffn_norm == "ffn_norm" and _has(net, f"{name}post_attention_norm"):
        current = _norm(net, style, current, f"{name}post_attention_norm", il)
    before = g.add(_residual(net, current), before)
    current = before
    if _has(net, f"{name}{style.ffn_norm}"):
        current = _norm(net, style, before, f"{name}{style.ffn_norm}", il)
    elif has_norm:
        current = normed
    current = _feed_forward(net, style, current, name)
    if _has(net, f"{name}post_ffw_norm"):
        bound = il if style.binds_last_norm else -1
        current = _norm(net, style, current, f"{name}post_ffw_norm", bound)
    return g.add(_residual(net, current), before)


def _has(net: Net, name: str) -> bool:
    return net.weight(f"{name}.weight") is not None


def _norm(net: Net, style: Style, current: Tensor, name: str, il: int = -1) -> Tensor:
    return net.norm(current, name, il, op=style.norm)


def _residual(net: Net, current: Tensor) -> Tensor:
    return g.scale(current) if net.trait("residual_scale") else current


def _attention(net: Net, style: Style, il: int, current: Tensor, inputs: _Inputs) -> Tensor:
    name, layer = f"blk.{il}.", net.shape.layers[il]
    is_wide = style.head_norm == "wide"
    head, n_kv = layer.head_k, layer.n_head_kv
    q, k, v = qkv(net, il, current, head, n_kv=n_kv, is_reshaped=not is_wide)
    if style.head_norm != "after":
        q, k = (_head_norm(net, style, x, il, letter) for x, letter in ((q, "q"), (k, "k")))
    if is_wide:
        q = g.reshape(q, head, q.ne[0] // head, net.u)
        k, v = g.reshape(k, head, n_kv, net.u), g.reshape(v, head, n_kv, net.u)
    if _is_rotated(net, style, il):
        more = factors(net, il) if style.has_factors else None
        q, k = rope(net, q, inputs.positions, more), rope(net, k, inputs.positions, more)
    if style.head_norm == "after":
        q, k = (_head_norm(net, style, x, il, letter) for x, letter in ((q, "q"), (k, "k")))
    if inputs.scale is not None:
        q = g.mul(q, inputs.scale)
    if style.scales_q:
        q = g.scale(q)
    return attention(
        net, of_layer(net, inputs.both, il), il, q, k, v, out=f"{name}attn_output",
        is_swa_order=inputs.both[1] is not None,
    )  # fmt: skip


def _head_norm(net: Net, style: Style, current: Tensor, il: int, letter: str) -> Tensor:
    name = f"blk.{il}.attn_{letter}_norm"
    return _norm(net, style, current, name, il) if _has(net, name) else current


def _is_rotated(net: Net, style: Style, il: int) -> bool:
    is_swa = net.shape.layers[il].is_swa
    if style.rope == "windows":
        return is_swa
    if style.rope == "mixed":
        return is_swa or not net.shape.has_swa
    if style.rope == "most":
        return (il + 1) % 4 != 0
    # Granite's header tells whether it rotates at all
    return not net.has_trait("rope.scaling.finetuned") or bool(net.trait("rope.scaling.finetuned"))


def _feed_forward(net: Net, style: Style, current: Tensor, name: str) -> Tensor:
    if not _has(net, f"{name}ffn_gate_inp"):
        return net.feed_forward(current, name, act=style.act)
    is_normed = style.norms_weights
    if is_normed is None:
        is_normed = bool(net.trait("expert_weights_norm"))
    mixed = net.experts(current, name, gating=_gating(net, style), is_normed=is_normed)
    if not _has(net, f"{name}ffn_up_shexp"):
        return mixed
    shared = net.feed_forward(current, name, suffix="_shexp")
    if _has(net, f"{name}ffn_gate_inp_shexp"):
        gate = g.mul_mat(net.need(f"{name}ffn_gate_inp_shexp.weight"), current)
        shared = g.mul(shared, g.like("DIV", g.unary(gate), gate))
    return g.add(mixed, shared)


def _gating(net: Net, style: Style) -> str:
    names = {float(_SIGMOID): "sigmoid", float(_LATE): "late"}
    return names.get(net.trait("expert_gating_func"), style.gating)
