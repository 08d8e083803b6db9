"""Models made by hand: a dense llama of a few blocks, large enough to matter."""

from app.core.model import KeyValue, Model, Part, Tensor
from app.core.units import GIB

F16 = 1
_NAMES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


def llama(blocks: int = 4, width: int = 16384, vocabulary: int = 1024) -> Model:
    """Return a llama in f16; at the default width a block's weights have 7 x 512 MiB."""
    tensors = [
        Tensor("token_embd.weight", F16, (width, vocabulary), 0),
        Tensor("output.weight", F16, (width, vocabulary), 0),
        *(
            Tensor(f"blk.{block}.{name}.weight", F16, (width, width), 0)
            for block in range(blocks)
            for name in _NAMES
        ),
    ]
    keys: dict[str, KeyValue] = {
        "general.architecture": "llama",
        "general.name": "Small llama",
        "llama.block_count": blocks,
        "llama.context_length": 4096,
        "llama.embedding_length": width,
        "llama.feed_forward_length": width,
        "llama.attention.head_count": width // 128,
        "llama.attention.head_count_kv": width // 128,
        "llama.vocab_size": vocabulary,
    }
    part = Part("/models/llama.gguf", 20 * GIB, 4096, 32)
    return Model("llama.gguf", "llama", 3, False, keys, tuple(tensors), (part,))


def mixture(blocks: int = 4, experts: int = 8, width: int = 4096) -> Model:
    """Return a mixture of experts in f16; most of its bytes are experts, of which 2 are read."""
    dense = ("attn_q", "attn_k", "attn_v", "attn_output")
    tensors = [
        Tensor("token_embd.weight", F16, (width, 1024), 0),
        Tensor("output.weight", F16, (width, 1024), 0),
    ]
    for block in range(blocks):
        tensors += [Tensor(f"blk.{block}.{name}.weight", F16, (width, width), 0) for name in dense]
        tensors.append(Tensor(f"blk.{block}.ffn_gate_inp.weight", F16, (width, experts), 0))
        tensors += [
            Tensor(f"blk.{block}.ffn_{name}_exps.weight", F16, (width, width, experts), 0)
            for name in ("gate", "up", "down")
        ]
    dense_model = llama(blocks, width)
    keys = {**dense_model.keys, "llama.expert_count": experts, "llama.expert_used_count": 2}
    part = Part("/models/mixture.gguf", 4 * GIB, 4096, 32)
    return Model("mixture.gguf", "llama", 3, False, keys, tuple(tensors), (part,))
