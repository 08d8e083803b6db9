"""The tensors and keys that many architectures share."""

from tests.truth.builder import Builder
from tests.truth.params import Params


def keys(b: Builder, p: Params, **changed: int | list[int]) -> None:
    """Set the keys that nearly every architecture has; `changed` goes before the sizes."""
    b.key("vocab_size", p.v)
    b.key("context_length", p.ctx)
    b.key("embedding_length", p.e)
    b.key("block_count", changed.get("blocks", p.L))
    b.key("feed_forward_length", changed.get("feed_forward", p.f))
    b.key("attention.head_count", p.h)
    hk = list(p.hk) if isinstance(p.hk, tuple) else p.hk
    b.key("attention.head_count_kv", changed.get("kv_heads", hk))
    if p.dk:
        b.key("attention.key_length", p.dk)
        b.key("attention.value_length", p.dv or p.dk)
    if p.nx:
        b.key("expert_count", p.nx)
        b.key("expert_used_count", p.nu)
    if p.fx:
        b.key("expert_feed_forward_length", p.fx)


def tables(b: Builder, p: Params, norm: str = "output_norm") -> None:
    """Add the embedding, the last norm and, unless tied, the output."""
    b.add("token_embd.weight", p.e, p.v)
    b.add(f"{norm}.weight", p.e)
    if not p.tied:
        b.add("output.weight", p.e, p.v)


def norms(b: Builder, i: int, width: int, *names: str) -> None:
    """Add norms of one width to a block."""
    for name in names:
        b.block(i, name, width)


def attention(b: Builder, i: int, width: int, q: int, kv: int, *, has_bias: bool = False) -> None:
    """Add Q, K, V and, for Qwen 2 and gpt-oss, their biases."""
    for name, size in (("q", q), ("k", kv), ("v", kv)):
        b.block(i, f"attn_{name}", width, size)
        if has_bias:
            b.add(f"blk.{i}.attn_{name}.bias", size)


def feed_forward(b: Builder, i: int, width: int, inner: int) -> None:
    """Add a gated feed forward."""
    b.block(i, "ffn_gate", width, inner)
    b.block(i, "ffn_up", width, inner)
    b.block(i, "ffn_down", inner, width)


def experts(b: Builder, i: int, width: int, inner: int, n: int, *, shared: int = 0) -> None:
    """Add a router, n experts and the shared expert."""
    b.block(i, "ffn_gate_inp", width, n)
    b.block(i, "ffn_gate_exps", width, inner, n)
    b.block(i, "ffn_up_exps", width, inner, n)
    b.block(i, "ffn_down_exps", inner, width, n)
    if shared:
        b.block(i, "ffn_gate_shexp", width, shared)
        b.block(i, "ffn_up_shexp", width, shared)
        b.block(i, "ffn_down_shexp", shared, width)


def mamba_2(b: Builder, i: int, p: Params) -> None:
    """Add a Mamba-2 mixer."""
    conv = p.inner + 2 * p.ng * p.st
    b.block(i, "ssm_in", p.e, p.inner + conv + p.nh)
    b.block(i, "ssm_conv1d", 4, conv)
    b.add(f"blk.{i}.ssm_conv1d.bias", conv)
    b.add(f"blk.{i}.ssm_dt.bias", p.nh)
    b.add(f"blk.{i}.ssm_a", 1, p.nh, type_name="f32")
    b.add(f"blk.{i}.ssm_d", 1, p.nh, type_name="f32")
    b.block(i, "ssm_norm", p.inner // p.ng, p.ng, type_name="f32")
    b.block(i, "ssm_out", p.inner, p.e)


def mamba_2_keys(b: Builder, p: Params) -> None:
    """Set the sizes of a Mamba-2 mixer."""
    b.key("ssm.conv_kernel", 4)
    b.key("ssm.inner_size", p.inner)
    b.key("ssm.state_size", p.st)
    b.key("ssm.time_step_rank", p.nh)
    b.key("ssm.group_count", p.ng)
