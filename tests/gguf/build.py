"""Makes GGUF files of any architecture, whole or damaged, for the tests of all parts."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.core import quants

CODES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "f32": "f",
         "bool": "?", "u64": "Q", "i64": "q", "f64": "d"}  # fmt: skip
IDS = {"u8": 0, "i8": 1, "u16": 2, "i16": 3, "u32": 4, "i32": 5, "f32": 6, "bool": 7, "str": 8,
       "arr": 9, "u64": 10, "i64": 11, "f64": 12}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Typed:
    """A value with its GGUF type; a list is an array of that type, "arr" holds Typed lists."""

    type_name: str
    value: object


Value = Typed | str | bool | int | float | Sequence[str] | Sequence[int] | Sequence[float]


@dataclass(frozen=True, slots=True)
class T:
    """A tensor to write; type_id goes before type_name, offset before the right one."""

    name: str
    shape: tuple[int, ...]
    type_name: str = "f32"
    type_id: int | None = None
    offset: int | None = None

    @property
    def id(self) -> int:
        """Return the ggml type's number."""
        return quants.BY_NAME[self.type_name].id if self.type_id is None else self.type_id

    @property
    def n_bytes(self) -> int:
        """Return the bytes of its data, 0 for an unknown type."""
        n_values = 1
        for n in self.shape:
            n_values *= n
        return quants.n_bytes(self.id, n_values) if quants.is_known(self.id) else 0


@dataclass(frozen=True, slots=True)
class Gguf:
    """A file to write: keys in order, tensors in order, all weights zero."""

    keys: Mapping[str, Value] = field(default_factory=dict)
    tensors: Sequence[T] = ()
    version: int = 3
    order: str = "<"
    alignment: int = 32

    def header(self) -> bytes:
        """Return the bytes up to the first tensor's data, padding included."""
        out = bytearray(
            b"GGUF" + self._pack("IQQ", self.version, len(self.tensors), len(self.keys))
        )
        for name, value in self.keys.items():
            typed = _typed(value)
            is_array = isinstance(typed.value, list | tuple)
            kind = IDS["arr"] if is_array else IDS[typed.type_name]
            out += self._text(name) + self._pack("I", kind) + self._body(typed)
        offset = 0
        for tensor in self.tensors:
            at = offset if tensor.offset is None else tensor.offset
            n = len(tensor.shape)
            out += self._text(tensor.name)
            out += self._pack(f"I{n}QIQ", n, *tensor.shape, tensor.id, at)
            offset = self._pad(offset + tensor.n_bytes)
        return bytes(out) + bytes(self._pad(len(out)) - len(out))

    @property
    def data_bytes(self) -> int:
        """Return the bytes of all tensors, padded."""
        return sum(self._pad(tensor.n_bytes) for tensor in self.tensors)

    def to_bytes(self) -> bytes:
        """Return the whole file; for small ones."""
        return self.header() + bytes(self.data_bytes)

    def write(self, path: Path, missing_bytes: int = 0) -> Path:
        """Write the file, sparse where the system can; missing_bytes are cut off at its end."""
        header = self.header()
        with path.open("wb") as file:
            file.write(header)
            file.truncate(len(header) + self.data_bytes - missing_bytes)
        return path

    def _pad(self, n: int) -> int:
        return -(-n // self.alignment) * self.alignment

    def _pack(self, layout: str, *values: int) -> bytes:
        return struct.pack(self.order + layout, *values)

    def _text(self, text: str) -> bytes:
        data = text.encode()
        return self._pack("Q", len(data)) + data

    def _body(self, typed: Typed) -> bytes:
        value = typed.value
        if isinstance(value, list | tuple):
            entries = [entry if isinstance(entry, Typed) else Typed(typed.type_name, entry)
                       for entry in value]  # fmt: skip
            head = self._pack("IQ", IDS[typed.type_name], len(entries))
            return head + b"".join(self._body(entry) for entry in entries)
        if isinstance(value, str):
            return self._text(value)
        return struct.pack(self.order + CODES[typed.type_name], value)


def _typed(value: Value) -> Typed:
    """Give a plain value the type that converters use for it."""
    if isinstance(value, Typed):
        return value
    first = value if isinstance(value, str | bool | int | float) else value[0]
    for kind, name in ((bool, "bool"), (int, "u32"), (float, "f32")):
        if isinstance(first, kind):
            return Typed(name, value)
    return Typed("str", value)


def dense(
    arch: str = "llama",
    *,
    blocks: int = 2,
    embd: int = 256,
    ff: int = 512,
    heads: int = 4,
    kv_heads: int = 2,
    vocab: int = 64,
    ctx: int = 4096,
    type_name: str = "q8_0",
    is_tied: bool = False,
    more: Mapping[str, Value] | None = None,
) -> Gguf:
    """Describe a small dense transformer; more adds keys or replaces them, by full name."""
    kv = embd // heads * kv_heads
    block = [
        ("attn_norm", (embd,), "f32"),
        ("attn_q", (embd, embd), type_name),
        ("attn_k", (embd, kv), type_name),
        ("attn_v", (embd, kv), type_name),
        ("attn_output", (embd, embd), type_name),
        ("ffn_norm", (embd,), "f32"),
        ("ffn_gate", (embd, ff), type_name),
        ("ffn_up", (embd, ff), type_name),
        ("ffn_down", (ff, embd), type_name),
    ]
    tensors = [T("token_embd.weight", (embd, vocab), type_name)]
    for i in range(blocks):
        tensors += [T(f"blk.{i}.{name}.weight", shape, kind) for name, shape, kind in block]
    tensors.append(T("output_norm.weight", (embd,)))
    if not is_tied:
        tensors.append(T("output.weight", (embd, vocab), type_name))
    keys: dict[str, Value] = {
        "general.architecture": arch,
        "general.name": f"small {arch}",
        f"{arch}.block_count": blocks,
        f"{arch}.context_length": ctx,
        f"{arch}.embedding_length": embd,
        f"{arch}.feed_forward_length": ff,
        f"{arch}.attention.head_count": heads,
        f"{arch}.attention.head_count_kv": kv_heads,
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.tokens": [f"token {i}" for i in range(vocab)],
    }
    return Gguf({**keys, **(more or {})}, tensors)
