"""The attention architectures of the truth file: Llama and its relatives, Gemma, DeepSeek, GPT."""

from tests.truth import parts
from tests.truth.builder import Builder
from tests.truth.params import Params


def llama(b: Builder, p: Params) -> None:
    """Llama, Mixtral, Qwen 2, Qwen 3 and Qwen 3 MoE."""
    parts.keys(b, p)
    d = p.head
    if p.rope_freqs:
        b.add("rope_freqs.weight", d // 2)
    parts.tables(b, p)
    for i in range(p.L):
        b.block(i, "attn_norm", p.e)
        kv = d * p.kv_heads(i)
        parts.attention(b, i, p.e, d * p.h, kv, has_bias=b.arch == "qwen2")
        b.block(i, "attn_output", d * p.h, p.e)
        if b.arch in ("qwen3", "qwen3moe"):
            parts.norms(b, i, d, "attn_q_norm", "attn_k_norm")
        b.block(i, "ffn_norm", p.e)
        if p.nx:
            parts.experts(b, i, p.e, p.fx or p.f, p.nx)
        else:
            parts.feed_forward(b, i, p.e, p.f)


def phi3(b: Builder, p: Params) -> None:
    """Phi-3 and Phi-4: one matrix for Q, K and V."""
    parts.keys(b, p)
    d = p.head
    parts.tables(b, p)
    b.add("rope_factors_long.weight", d // 2)
    b.add("rope_factors_short.weight", d // 2)
    for i in range(p.L):
        b.block(i, "attn_norm", p.e)
        b.block(i, "attn_qkv", p.e, d * (p.h + 2 * p.kv_heads(i)))
        b.block(i, "attn_output", p.e, p.e)
        b.block(i, "ffn_norm", p.e)
        b.block(i, "ffn_up", p.e, 2 * p.f)
        b.block(i, "ffn_down", p.f, p.e)


def _gemma_block(b: Builder, i: int, p: Params, d: int) -> None:
    parts.norms(b, i, p.e, "attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")
    parts.attention(b, i, p.e, d * p.h, d * p.kv_heads(i))
    b.block(i, "attn_output", d * p.h, p.e)
    parts.norms(b, i, d, "attn_q_norm", "attn_k_norm")
    parts.feed_forward(b, i, p.e, p.f)


def gemma3(b: Builder, p: Params) -> None:
    """Gemma 3."""
    parts.keys(b, p)
    b.key("attention.sliding_window", p.swa)
    parts.tables(b, p)
    for i in range(p.L):
        _gemma_block(b, i, p, p.dk)


def gemma3n(b: Builder, p: Params) -> None:
    """Gemma 3n: alternating updates, low-rank branches, per-layer embeddings."""
    parts.keys(b, p)
    b.key("attention.sliding_window", p.swa)
    b.key("attention.shared_kv_layers", p.shared_kv)
    b.key("attention.sliding_window_pattern", [i % 5 < 4 for i in range(p.L)])
    parts.tables(b, p)
    n_updates, rank = 4, 64
    b.add("altup_proj.weight", p.e, p.e, n_updates - 1)
    b.add("altup_unembd_proj.weight", p.e, p.e, n_updates - 1)
    b.add("per_layer_token_embd.weight", p.epl * p.L, p.v)
    b.add("per_layer_model_proj.weight", p.e, p.epl * p.L)
    b.add("per_layer_proj_norm.weight", p.epl)
    for i in range(p.L):
        _gemma_block(b, i, p, p.dk)
        parts.norms(
            b, i, p.e, "post_norm", "altup_correct_scale", "altup_router_norm", "laurel_post_norm"
        )
        b.block(i, "inp_gate", p.e, p.epl)
        b.block(i, "proj", p.epl, p.e)
        b.block(i, "altup_correct_coef", n_updates, n_updates)
        b.block(i, "altup_predict_coef", n_updates, n_updates * n_updates)
        b.block(i, "altup_router", p.e, n_updates)
        b.block(i, "laurel_l", p.e, rank)
        b.block(i, "laurel_r", rank, p.e)


def gemma4(b: Builder, p: Params) -> None:
    """Gemma 4: heads of two sizes, later blocks share the cache of earlier ones."""
    assert isinstance(p.pat, int)
    windows = [(i + 1) % p.pat != 0 for i in range(p.L)]
    parts.keys(b, p)
    b.key("attention.sliding_window", p.swa)
    b.key("attention.key_length_swa", p.dks)
    b.key("attention.value_length_swa", p.dks)
    b.key("attention.shared_kv_layers", p.shared_kv)
    b.key("embedding_length_per_layer_input", p.epl)
    b.key("attention.sliding_window_pattern", windows)
    parts.tables(b, p)
    if p.epl:
        b.add("per_layer_token_embd.weight", p.epl * p.L, p.v)
        b.add("per_layer_model_proj.weight", p.e, p.epl * p.L)
        b.add("per_layer_proj_norm.weight", p.epl)
    b.add("rope_freqs.weight", p.dk // 2)
    for i in range(p.L):
        _gemma_block(b, i, p, p.dks if windows[i] else p.dk)
        b.block(i, "layer_output_scale", 1)
        if p.epl:
            b.block(i, "inp_gate", p.e, p.epl)
            b.block(i, "proj", p.epl, p.e)
            b.block(i, "post_norm", p.e)


def deepseek2(b: Builder, p: Params) -> None:
    """DeepSeek V2 and V3: one latent row per token instead of K and V."""
    parts.keys(b, p)
    b.key("attention.kv_lora_rank", p.lkv)
    b.key("attention.key_length_mla", p.dkm)
    b.key("attention.value_length_mla", p.dvm)
    b.key("leading_dense_block_count", p.lead)
    parts.tables(b, p)
    for i in range(p.L):
        b.block(i, "attn_norm", p.e)
        b.block(i, "attn_kv_a_norm", p.lkv)
        if p.lq:
            b.block(i, "attn_q_a_norm", p.lq)
            b.block(i, "attn_q_a", p.e, p.lq)
            b.block(i, "attn_q_b", p.lq, p.h * p.dkm)
        else:
            b.block(i, "attn_q", p.e, p.h * p.dkm)
        b.block(i, "attn_kv_a_mqa", p.e, p.lkv + p.rope)
        b.block(i, "attn_k_b", p.dkm - p.rope, p.lkv, p.h)
        b.block(i, "attn_v_b", p.lkv, p.dvm, p.h)
        b.block(i, "attn_output", p.h * p.dvm, p.e)
        b.block(i, "ffn_norm", p.e)
        if i < p.lead:
            parts.feed_forward(b, i, p.e, p.f)
        else:
            parts.experts(b, i, p.e, p.fx, p.nx, shared=p.fx * p.ns)


def gpt_oss(b: Builder, p: Params) -> None:
    """gpt-oss: sinks, and biases nearly everywhere."""
    parts.keys(b, p)
    b.key("attention.sliding_window", p.swa)
    parts.tables(b, p)
    for i in range(p.L):
        parts.norms(b, i, p.e, "attn_norm", "post_attention_norm")
        parts.attention(b, i, p.e, p.dk * p.h, p.dk * p.kv_heads(i), has_bias=True)
        b.block(i, "attn_output", p.dk * p.h, p.e)
        b.add(f"blk.{i}.attn_output.bias", p.e)
        b.block(i, "attn_sinks", p.h)
        parts.experts(b, i, p.e, p.fx, p.nx)
        b.add(f"blk.{i}.ffn_gate_inp.bias", p.nx)
        b.add(f"blk.{i}.ffn_gate_exps.bias", p.fx, p.nx)
        b.add(f"blk.{i}.ffn_up_exps.bias", p.fx, p.nx)
        b.add(f"blk.{i}.ffn_down_exps.bias", p.e, p.nx)
