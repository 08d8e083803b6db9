"""A model that is known by its sizes only: a plain transformer with these counts, in memory."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.core import quants, requant
from app.core.errors import UserError
from app.core.model import KeyValue, Model, Part, Tensor

SOURCE = "calculated for a plain llama-like transformer of these sizes, not for a file"
_ALIGNMENT = 32
_LEAST_FF = 32
_BILLION = 1_000_000_000
_F16, _F32 = quants.BY_NAME["f16"].id, quants.BY_NAME["f32"].id


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of the model; counts of values, heads and blocks."""

    parameters: int  # in all
    blocks: int
    embedding: int
    heads: int
    kv_heads: int
    vocabulary: int
    ctx_train: int = 32768
    experts: int = 0
    experts_used: int = 0


def parameters_of(billions: float) -> int:
    """Return the count of parameters that is given in billions, as models are named."""
    return round(billions * _BILLION)


def billions_of(parameters: int) -> float:
    """Return a count of parameters in billions."""
    return parameters / _BILLION


def described(sizes: Description, file_type: str) -> Model:
    """Return the model in a quantisation; UserError when the sizes contradict each other.

    The feed-forward width is what is left of the parameters, so their sum is as given.
    """
    _check(sizes)
    return requant.requantised(_in_f16(sizes, _feed_forward(sizes)), file_type)


def _check(sizes: Description) -> None:
    counts = (sizes.blocks, sizes.embedding, sizes.heads, sizes.kv_heads, sizes.vocabulary)
    if min(*counts, sizes.parameters, sizes.ctx_train) < 1:
        raise _wrong("All sizes must be above zero.")
    if sizes.embedding % sizes.heads:
        raise _wrong(
            f"An embedding of {sizes.embedding} cannot be shared by {sizes.heads} heads: one must "
            "divide the other."
        )
    if sizes.heads % sizes.kv_heads:
        raise _wrong(f"{sizes.heads} heads cannot share {sizes.kv_heads} KV heads evenly.")
    if sizes.experts and not 0 < sizes.experts_used <= sizes.experts:
        raise _wrong(f"{sizes.experts_used} of {sizes.experts} experts cannot be used per token.")


def _feed_forward(sizes: Description) -> int:
    """Return the width that makes up the parameters, in whole blocks of 32 values."""
    e, kv = sizes.embedding, sizes.embedding // sizes.heads * sizes.kv_heads
    tables = 2 * sizes.vocabulary * e + e
    attention = 2 * e * e + 2 * e * kv + 2 * e + sizes.experts * e
    left = sizes.parameters - tables - sizes.blocks * attention
    per_width = 3 * e * max(sizes.experts, 1) * sizes.blocks
    # 256 values are a block of the K quantisations, which all real models keep to
    step = 256 if left // per_width >= 1024 else _LEAST_FF
    width = round(left / per_width / step) * step
    if width < _LEAST_FF:
        least = billions_of(tables + sizes.blocks * attention + _LEAST_FF * per_width)
        raise _wrong(
            f"Embedding tables and attention alone have more: at least {least:.2f} billion "
            "parameters."
        )
    return width


def _in_f16(sizes: Description, n_ff: int) -> Model:
    tensors = []
    offset = 0
    for name, shape in _tensors(sizes, n_ff):
        tensor = Tensor(name, _F32 if len(shape) == 1 else _F16, shape, offset)
        tensors.append(tensor)
        offset += -(-tensor.n_bytes // _ALIGNMENT) * _ALIGNMENT
    arch = "qwen3moe" if sizes.experts else "llama"
    keys: dict[str, KeyValue] = {
        "general.architecture": arch,
        "general.file_type": 1,
        f"{arch}.block_count": sizes.blocks,
        f"{arch}.context_length": sizes.ctx_train,
        f"{arch}.embedding_length": sizes.embedding,
        f"{arch}.feed_forward_length": n_ff,
        f"{arch}.attention.head_count": sizes.heads,
        f"{arch}.attention.head_count_kv": sizes.kv_heads,
        f"{arch}.vocab_size": sizes.vocabulary,
    }
    if sizes.experts:
        keys[f"{arch}.expert_count"] = sizes.experts
        keys[f"{arch}.expert_used_count"] = sizes.experts_used
        keys[f"{arch}.expert_feed_forward_length"] = n_ff
    name = f"a model of {billions_of(sizes.parameters):.3g} billion parameters"
    part = Part("", offset, 0, _ALIGNMENT)
    return Model(name, arch, 3, False, keys, tuple(tensors), (part,))


def _tensors(sizes: Description, n_ff: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    e, kv = sizes.embedding, sizes.embedding // sizes.heads * sizes.kv_heads
    yield "token_embd.weight", (e, sizes.vocabulary)
    yield "output_norm.weight", (e,)
    yield "output.weight", (e, sizes.vocabulary)
    for i in range(sizes.blocks):
        block = f"blk.{i}."
        yield f"{block}attn_norm.weight", (e,)
        yield f"{block}attn_q.weight", (e, e)
        yield f"{block}attn_k.weight", (e, kv)
        yield f"{block}attn_v.weight", (e, kv)
        yield f"{block}attn_output.weight", (e, e)
        yield f"{block}ffn_norm.weight", (e,)
        if sizes.experts:
            yield f"{block}ffn_gate_inp.weight", (e, sizes.experts)
            yield f"{block}ffn_gate_exps.weight", (e, n_ff, sizes.experts)
            yield f"{block}ffn_up_exps.weight", (e, n_ff, sizes.experts)
            yield f"{block}ffn_down_exps.weight", (n_ff, e, sizes.experts)
        else:
            yield f"{block}ffn_gate.weight", (e, n_ff)
            yield f"{block}ffn_up.weight", (e, n_ff)
            yield f"{block}ffn_down.weight", (n_ff, e)


def _wrong(detail: str) -> UserError:
    return UserError("These sizes do not make a model", detail, "Look them up in its config.json.")
