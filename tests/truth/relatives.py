"""Headers of the architectures that differ from Llama's in norms, biases, residuals or experts."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.truth import parts
from tests.truth.builder import Builder
from tests.truth.params import Params

_SIGMOID = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """What a block of an architecture holds beside the matrices; names as in the files."""

    joined: bool = False  # Q, K and V in one matrix
    biases: tuple[str, ...] = ()
    norms: tuple[str, ...] = ("attn_norm", "ffn_norm")
    head_norm: str = ""  # per head, wide (over all heads) or each (a row per head)
    ffn: str = "glu"  # glu, halves or plain
    keys: tuple[tuple[str, float | bool], ...] = ()
    has_choice_bias: bool = False
    has_shared_gate: bool = False


_QKV = ("attn_q", "attn_k", "attn_v")
_ALL = (*_QKV, "attn_output", "ffn_up", "ffn_down")
_POST = ("post_attention_norm", "post_ffw_norm")
LAYOUTS: Mapping[str, Layout] = {
    "glm4": Layout(norms=("attn_norm", "ffn_norm", *_POST), ffn="halves", biases=_QKV),
    "glm4moe": Layout(
        norms=("attn_norm", "post_attention_norm"), biases=_QKV, has_choice_bias=True,
        keys=(("expert_weights_scale", 1.0), ("expert_weights_norm", True),
              ("expert_gating_func", _SIGMOID)),
    ),
    "qwen2moe": Layout(biases=_QKV, has_shared_gate=True),
    "command-r": Layout(norms=("attn_norm",), keys=(("logit_scale", 0.0625),)),
    "cohere2": Layout(norms=("attn_norm",), keys=(("logit_scale", 0.25),)),
    "olmo2": Layout(norms=_POST, head_norm="wide"),
    "olmoe": Layout(head_norm="wide"),
    "phi2": Layout(
        joined=True, norms=("attn_norm",), ffn="plain",
        biases=("attn_norm", "attn_qkv", "attn_output", "ffn_up", "ffn_down", "output_norm",
                "output"),
    ),
    "phimoe": Layout(biases=(*_QKV, "attn_output", "attn_norm", "ffn_norm", "output_norm",
                             "output")),
    "stablelm": Layout(biases=(*_QKV, "attn_norm", "ffn_norm", "output_norm")),
    "starcoder2": Layout(biases=(*_ALL, "attn_norm", "ffn_norm", "output_norm"), ffn="plain"),
    "internlm2": Layout(),
    "exaone4": Layout(norms=_POST, head_norm="head"),
    "smollm3": Layout(),
    "hunyuan-dense": Layout(head_norm="head"),
    "hunyuan-moe": Layout(head_norm="head"),
    "ernie4_5": Layout(),
    "ernie4_5-moe": Layout(has_choice_bias=True, keys=(("interleave_moe_layer_step", 1),)),
    "seed_oss": Layout(norms=("attn_norm", "post_attention_norm"), biases=_QKV),
    "dots1": Layout(
        head_norm="head", has_choice_bias=True,
        keys=(("expert_weights_scale", 2.5), ("expert_weights_norm", True),
              ("expert_gating_func", _SIGMOID)),
    ),
    "bailingmoe2": Layout(
        joined=True, head_norm="head", has_choice_bias=True, norms=("attn_norm", "ffn_norm"),
        keys=(("expert_weights_scale", 2.5), ("expert_weights_norm", True),
              ("expert_gating_func", _SIGMOID), ("expert_group_count", 8),
              ("expert_group_used_count", 4)),
    ),
    "minimax-m2": Layout(
        head_norm="wide", has_choice_bias=True, keys=(("expert_gating_func", _SIGMOID),)
    ),
    "deepseek": Layout(keys=(("expert_weights_scale", 1.0),)),
    "granite": Layout(keys=(("logit_scale", 16.0), ("residual_scale", 0.22),
                            ("embedding_scale", 12.0), ("attention.scale", 0.0078125))),
    "granitemoe": Layout(keys=(("logit_scale", 6.0), ("residual_scale", 0.22),
                               ("embedding_scale", 12.0), ("attention.scale", 0.015625))),
    "mistral3": Layout(keys=(("attention.temperature_scale", 0.1),
                             ("rope.scaling.original_context_length", 16384))),
    "qwen2vl": Layout(biases=_QKV),
    "qwen3vl": Layout(head_norm="head", keys=(("n_deepstack_layers", 3),)),
    "qwen3vlmoe": Layout(head_norm="head", keys=(("n_deepstack_layers", 3),)),
    "gemma": Layout(),
    "falcon": Layout(
        joined=True, norms=("attn_norm", "attn_norm_2"), ffn="plain",
        biases=("attn_norm", "attn_norm_2", "output_norm"),
    ),
    "gptneox": Layout(
        joined=True, ffn="plain", keys=(("use_parallel_residual", True),),
        biases=("attn_norm", "ffn_norm", "attn_qkv", "attn_output", "ffn_up", "ffn_down",
                "output_norm"),
    ),
}  # fmt: skip
_LAYER_NORM = frozenset(
    {"command-r", "cohere2", "phi2", "stablelm", "starcoder2", "falcon", "gptneox"}
)
_SECTIONS = frozenset({"qwen2vl", "qwen3vl", "qwen3vlmoe"})


def relative(b: Builder, p: Params) -> None:
    """Add the keys and tensors of one of the architectures above."""
    layout = LAYOUTS[b.arch]
    _keys(b, p, layout)
    parts.tables(b, p)
    for name in ("output_norm", "output"):
        if name in layout.biases:
            b.add(f"{name}.bias", p.e if name == "output_norm" else p.v)
    if p.rope_freqs:
        b.add("rope_freqs.weight", p.head // 2)
    for i in range(p.L + p.mtp):
        _attention(b, i, p, layout)
        _feed_forward(b, i, p, layout)
        if i >= p.L:
            parts.norms(b, i, p.e, "nextn.enorm", "nextn.hnorm", "nextn.shared_head_norm")
            b.block(i, "nextn.eh_proj", 2 * p.e, p.e)
            if b.arch == "bailingmoe2":
                b.block(i, "layer_output_norm", p.e)


def _keys(b: Builder, p: Params, layout: Layout) -> None:
    parts.keys(b, p, blocks=p.L + p.mtp)
    epsilon = "layer_norm_epsilon" if b.arch in _LAYER_NORM else "layer_norm_rms_epsilon"
    b.key(f"attention.{epsilon}", 1e-6)
    b.key("rope.dimension_count", p.rope or p.head)
    for name, value in layout.keys:
        b.key(name, value)
    if b.arch in _SECTIONS:
        b.key("rope.dimension_sections", [16, 24, 24, 0])
    for name, size in (
        ("attention.sliding_window", p.swa), ("leading_dense_block_count", p.lead),
        ("expert_shared_count", p.ns), ("expert_shared_feed_forward_length", p.fs),
        ("nextn_predict_layers", p.mtp),
    ):  # fmt: skip
        if size:
            b.key(name, size)


def _bias(b: Builder, i: int, layout: Layout, name: str, size: int) -> None:
    if name in layout.biases:
        b.add(f"blk.{i}.{name}.bias", size)


def _attention(b: Builder, i: int, p: Params, layout: Layout) -> None:
    d, n_kv = p.head, p.kv_heads(i)
    for name in layout.norms:
        b.block(i, name, p.e)
        _bias(b, i, layout, name, p.e)
    if layout.joined:
        b.block(i, "attn_qkv", p.e, d * (p.h + 2 * n_kv))
        _bias(b, i, layout, "attn_qkv", d * (p.h + 2 * n_kv))
    else:
        parts.attention(b, i, p.e, d * p.h, d * n_kv, has_bias="attn_q" in layout.biases)
    b.block(i, "attn_output", d * p.h, p.e)
    _bias(b, i, layout, "attn_output", p.e)
    if layout.head_norm:
        is_wide = layout.head_norm == "wide"
        b.block(i, "attn_q_norm", d * p.h if is_wide else d)
        b.block(i, "attn_k_norm", d * n_kv if is_wide else d)


def _feed_forward(b: Builder, i: int, p: Params, layout: Layout) -> None:
    if p.nx and i >= p.lead:
        parts.experts(b, i, p.e, p.fx or p.f, p.nx, shared=p.fs or p.fx * p.ns)
        if layout.has_choice_bias:
            b.add(f"blk.{i}.exp_probs_b.bias", p.nx)
        if layout.has_shared_gate:
            b.block(i, "ffn_gate_inp_shexp", p.e)
    elif layout.ffn == "glu":
        parts.feed_forward(b, i, p.e, p.f)
    else:
        b.block(i, "ffn_up", p.e, 2 * p.f if layout.ffn == "halves" else p.f)
        _bias(b, i, layout, "ffn_up", p.f)
        b.block(i, "ffn_down", p.f, p.e)
        _bias(b, i, layout, "ffn_down", p.e)
