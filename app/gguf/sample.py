"""Writes a tiny complete model file, for the self-test of the packaged program."""

import struct
from pathlib import Path

_BLOCKS, _EMBD, _FF, _VOCAB = 2, 64, 128, 32
_KEYS: tuple[tuple[str, str | int], ...] = (
    ("general.architecture", "llama"),
    ("general.name", "sample"),
    ("llama.block_count", _BLOCKS),
    ("llama.context_length", 2048),
    ("llama.embedding_length", _EMBD),
    ("llama.feed_forward_length", _FF),
    ("llama.attention.head_count", 4),
    ("llama.attention.head_count_kv", 2),
    ("llama.vocab_size", _VOCAB),
)
_BLOCK = (
    ("attn_norm", (_EMBD,)),
    ("attn_q", (_EMBD, _EMBD)),
    ("attn_k", (_EMBD, _EMBD // 2)),
    ("attn_v", (_EMBD, _EMBD // 2)),
    ("attn_output", (_EMBD, _EMBD)),
    ("ffn_norm", (_EMBD,)),
    ("ffn_gate", (_EMBD, _FF)),
    ("ffn_up", (_EMBD, _FF)),
    ("ffn_down", (_FF, _EMBD)),
)


def write_sample(path: Path) -> None:
    """Write a llama of two blocks, all weights zero and f32."""
    tensors = [
        ("token_embd.weight", (_EMBD, _VOCAB)),
        *((f"blk.{i}.{name}.weight", shape) for i in range(_BLOCKS) for name, shape in _BLOCK),
        ("output_norm.weight", (_EMBD,)),
        ("output.weight", (_EMBD, _VOCAB)),
    ]
    out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(_KEYS)))
    for key, value in _KEYS:
        body = _text(value) if isinstance(value, str) else struct.pack("<I", value)
        out += _text(key) + struct.pack("<I", 8 if isinstance(value, str) else 4) + body
    offset = 0
    for name, shape in tensors:
        out += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        n_values = shape[0] * (shape[1] if len(shape) > 1 else 1)
        offset += 4 * n_values  # a multiple of 32, so no padding between tensors
    out += bytes(-len(out) % 32 + offset)
    path.write_bytes(out)


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data
