"""The recurrent and hybrid architectures of the truth file."""

from tests.truth import parts
from tests.truth.builder import Builder
from tests.truth.params import Params


def delta_net(b: Builder, p: Params) -> None:
    """Qwen3-Next and Qwen3.5: three gated delta nets to one attention, perhaps MTP blocks."""
    is_dense = b.arch == "qwen35"
    is_next = b.arch == "qwen3next"
    n = p.L + p.mtp
    parts.keys(b, p, blocks=n)
    b.key("ssm.conv_kernel", 4)
    b.key("ssm.inner_size", p.ds * p.nv)
    b.key("ssm.state_size", p.ds)
    b.key("ssm.time_step_rank", p.nv)
    b.key("ssm.group_count", p.nk)
    if p.mtp:
        b.key("nextn_predict_layers", p.mtp)
    parts.tables(b, p)
    for i in range(n):
        parts.norms(b, i, p.e, "attn_norm", "post_attention_norm")
        if i >= p.L or (i + 1) % 4 == 0:
            parts.attention(b, i, p.e, p.dk * p.h * 2, p.dk * p.kv_heads(i))
            b.block(i, "attn_output", p.dk * p.h, p.e)
            parts.norms(b, i, p.dk, "attn_q_norm", "attn_k_norm")
        else:
            _delta_mixer(b, i, p, is_next=is_next)
        if is_dense:
            parts.feed_forward(b, i, p.e, p.f)
        else:
            parts.experts(b, i, p.e, p.fx, p.nx, shared=p.fs)
            b.block(i, "ffn_gate_inp_shexp", p.e)
        if i >= p.L:
            b.block(i, "nextn.eh_proj", 2 * p.e, p.e)
            parts.norms(b, i, p.e, "nextn.enorm", "nextn.hnorm", "nextn.shared_head_norm")


def _delta_mixer(b: Builder, i: int, p: Params, *, is_next: bool) -> None:
    key, value = p.ds * p.nk, p.ds * p.nv
    b.block(i, "attn_qkv", p.e, 2 * key + value)
    b.block(i, "attn_gate", p.e, value)
    b.block(i, "ssm_conv1d", 4, 2 * key + value)
    b.add(f"blk.{i}.ssm_dt.bias", p.nv)
    b.add(f"blk.{i}.ssm_a", p.nv)
    if is_next:
        b.block(i, "ssm_ba", p.e, 2 * p.nv)
    else:
        b.block(i, "ssm_beta", p.e, p.nv)
        b.block(i, "ssm_alpha", p.e, p.nv)
    b.block(i, "ssm_norm", p.ds)
    b.block(i, "ssm_out", value, p.e)


def granite_hybrid(b: Builder, p: Params) -> None:
    """Granite 4 hybrid: Mamba-2 with a few attention blocks, experts everywhere."""
    parts.keys(b, p, kv_heads=[p.hka if i in p.attn else 0 for i in range(p.L)])
    parts.mamba_2_keys(b, p)
    parts.tables(b, p)
    for i in range(p.L):
        b.block(i, "attn_norm", p.e)
        if i in p.attn:
            parts.attention(b, i, p.e, p.e, p.head * p.hka)
            b.block(i, "attn_output", p.e, p.e)
        else:
            parts.mamba_2(b, i, p)
        b.block(i, "ffn_norm", p.e)
        parts.experts(b, i, p.e, p.f, p.nx, shared=p.fs)


def nemotron_h(b: Builder, p: Params) -> None:
    """Nemotron-H: each block is one of Mamba (M), attention (*) and feed forward (-)."""
    assert isinstance(p.pat, str)
    parts.keys(
        b,
        p,
        blocks=len(p.pat),
        kv_heads=[p.hka if kind == "*" else 0 for kind in p.pat],
        feed_forward=[p.f if kind == "-" else 0 for kind in p.pat],
    )
    parts.mamba_2_keys(b, p)
    parts.tables(b, p)
    for i, kind in enumerate(p.pat):
        b.block(i, "attn_norm", p.e)
        if kind == "M":
            parts.mamba_2(b, i, p)
        elif kind == "*":
            parts.attention(b, i, p.e, p.dk * p.h, p.dk * p.hka)
            b.block(i, "attn_output", p.dk * p.h, p.e)
        else:
            b.block(i, "ffn_up", p.e, p.f)
            b.block(i, "ffn_down", p.f, p.e)


def lfm2(b: Builder, p: Params) -> None:
    """LFM2: short convolutions with a few attention blocks."""
    parts.keys(b, p, kv_heads=[p.hka if i in p.attn else 0 for i in range(p.L)])
    b.key("shortconv.l_cache", 3)
    parts.tables(b, p, norm="token_embd_norm")
    for i in range(p.L):
        parts.norms(b, i, p.e, "attn_norm", "ffn_norm")
        parts.feed_forward(b, i, p.e, p.f)
        if i in p.attn:
            parts.attention(b, i, p.e, p.e, p.head * p.hka)
            b.block(i, "attn_output", p.e, p.e)
            parts.norms(b, i, p.head, "attn_q_norm", "attn_k_norm")
        else:
            b.block(i, "shortconv.conv", 3, p.e)
            b.block(i, "shortconv.in_proj", p.e, 3 * p.e)
            b.block(i, "shortconv.out_proj", p.e, p.e)


def mamba(b: Builder, p: Params) -> None:
    """Mamba: no attention at all."""
    inner, state = 2 * p.e, 16
    for name, value in (
        ("vocab_size", p.v),
        ("context_length", p.ctx),
        ("embedding_length", p.e),
        ("block_count", p.L),
        ("feed_forward_length", 0),
        ("attention.head_count", 0),
        ("ssm.conv_kernel", 4),
        ("ssm.inner_size", inner),
        ("ssm.state_size", state),
        ("ssm.time_step_rank", p.dt),
    ):
        b.key(name, value)
    parts.tables(b, p)
    for i in range(p.L):
        b.block(i, "attn_norm", p.e)
        b.block(i, "ssm_in", p.e, 2 * inner)
        b.block(i, "ssm_conv1d", 4, inner)
        b.add(f"blk.{i}.ssm_conv1d.bias", inner)
        b.block(i, "ssm_x", inner, p.dt + 2 * state)
        b.block(i, "ssm_dt", p.dt, inner)
        b.add(f"blk.{i}.ssm_dt.bias", inner)
        b.add(f"blk.{i}.ssm_a", state, inner, type_name="f32")
        b.add(f"blk.{i}.ssm_d", inner)
        b.block(i, "ssm_out", inner, p.e)


def falcon_h1(b: Builder, p: Params) -> None:
    """Falcon-H1: attention and Mamba-2 side by side in each block."""
    parts.keys(b, p)
    parts.mamba_2_keys(b, p)
    b.key("attention.layer_norm_rms_epsilon", 1e-5)
    parts.tables(b, p)
    for i in range(p.L):
        b.block(i, "attn_norm", p.e)
        parts.attention(b, i, p.e, p.head * p.h, p.head * p.kv_heads(i))
        b.block(i, "attn_output", p.head * p.h, p.e)
        parts.mamba_2(b, i, p)
        b.add(f"blk.{i}.ffn_norm", p.e)  # without a suffix
        parts.feed_forward(b, i, p.e, p.f)


def jamba(b: Builder, p: Params) -> None:
    """Jamba: Mamba with a few attention blocks, experts in every other block."""
    parts.keys(b, p, kv_heads=[p.hka if i in p.attn else 0 for i in range(p.L)])
    b.key("attention.layer_norm_rms_epsilon", 1e-6)
    for name, size in (
        ("conv_kernel", 4), ("inner_size", p.inner), ("state_size", p.st), ("time_step_rank", p.dt)
    ):  # fmt: skip
        b.key(f"ssm.{name}", size)
    parts.tables(b, p)
    for i in range(p.L):
        parts.norms(b, i, p.e, "attn_norm", "ffn_norm")
        if i in p.attn:
            parts.attention(b, i, p.e, p.e, p.head * p.hka)
            b.block(i, "attn_output", p.e, p.e)
        else:
            _jamba_mixer(b, i, p)
        if p.nx and i % 2:
            parts.experts(b, i, p.e, p.f, p.nx)
        else:
            parts.feed_forward(b, i, p.e, p.f)


def _jamba_mixer(b: Builder, i: int, p: Params) -> None:
    b.block(i, "ssm_in", p.e, 2 * p.inner)
    b.block(i, "ssm_conv1d", 4, p.inner)
    b.add(f"blk.{i}.ssm_conv1d.bias", p.inner)
    b.block(i, "ssm_x", p.inner, p.dt + 2 * p.st)
    parts.norms(b, i, p.dt, "ssm_dt_norm")
    parts.norms(b, i, p.st, "ssm_b_norm", "ssm_c_norm")
    b.block(i, "ssm_dt", p.dt, p.inner)
    b.add(f"blk.{i}.ssm_dt.bias", p.inner)
    b.add(f"blk.{i}.ssm_a", p.st, p.inner, type_name="f32")
    b.add(f"blk.{i}.ssm_d", p.inner)
    b.block(i, "ssm_out", p.inner, p.e)
