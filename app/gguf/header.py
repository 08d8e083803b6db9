"""Reads the header of one GGUF file: keys and tensors, never a weight and never a token list."""

import math
import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.core import quants
from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.model import KeyValue, Scalar, SkippedArray, Tensor
from app.gguf import sniff
from app.gguf.stream import MAX_ARRAY_ENTRIES, Stream

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32

# What is kept of a header; longer values are counted, not kept.
KEPT_ENTRIES = 4096
KEPT_TEXT_BYTES = 1 << 20
KEPT_BYTES = 16 << 20

# What a header may claim. The largest real ones have about 2,000 tensors (47,000 in files from
# before experts were merged), 100 keys and a million texts in their token lists.
MAX_KEYS = 1 << 16
MAX_TENSORS = 1 << 17
MAX_KEY_BYTES = 65535  # GGUF specification
MAX_NAME_BYTES = 1024  # llama.cpp stops at 63 (GGML_MAX_NAME); other programs' files go further
MAX_NAMES_BYTES = 32 << 20
MAX_TEXTS = 1 << 24
MAX_DEPTH = 8
MAX_DIMS = 4
MAX_ALIGNMENT = 1 << 20
SHOWN_CHARS = 80  # of a name, in messages
MAX_TYPE = 255  # a larger type number is damage, not a newer format

_STRING, _ARRAY, _BOOL = 8, 9, 7
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q",
            12: "d"}  # fmt: skip
_TYPE_NAMES = ("u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "arr", "u64", "i64",
               "f64")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """The header of one file; offsets and sizes in bytes."""

    version: int
    is_big_endian: bool
    keys: Mapping[str, KeyValue]
    tensors: tuple[Tensor, ...]
    data_offset: int
    alignment: int
    file_bytes: int


def read_header(path: Path, part: int = 0, cancel: Cancel | None = None) -> Header:
    """Read one file's header, or raise a UserError that names the offset and the key."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device would never end
            raise UserError(*sniff.refusal(path))
        with path.open("rb") as file:
            file_bytes = os.fstat(file.fileno()).st_size
            if file.read(len(MAGIC)) != MAGIC:
                raise UserError(*sniff.refusal(path))
            return _Reader(Stream(file, file_bytes, path.name, cancel), part).read()
    except OSError as error:
        raise UserError(
            f"{path.name} cannot be read",
            error.strerror or type(error).__name__,
            "Check that the file is still there and that you may read it.",
        ) from error


class _Reader:
    """One pass over one header."""

    def __init__(self, stream: Stream, part: int) -> None:
        self._stream = stream
        self._part = part
        self._kept_bytes = 0
        self._names_bytes = 0
        self._texts = 0

    def read(self) -> Header:
        stream = self._stream
        stream.skip(len(MAGIC))
        version = self._version()
        stream.place = "the number of tensors and keys"
        n_tensors, n_keys = stream.unpack(struct.Struct(stream.order + "QQ"))
        if n_tensors > MAX_TENSORS or n_keys > MAX_KEYS:
            stream.damaged(
                f"{n_tensors:,} tensors and {n_keys:,} keys, where at most {MAX_TENSORS:,} and"
                f" {MAX_KEYS:,} make sense"
            )
        keys = self._keys(n_keys)
        alignment = self._alignment(keys)
        tensors = self._tensors(n_tensors, alignment)
        end = stream.offset
        return Header(
            version=version,
            is_big_endian=stream.order == ">",
            keys=keys,
            tensors=tensors,
            data_offset=_pad(end, alignment) if tensors else end,
            alignment=alignment,
            file_bytes=stream.file_bytes,
        )

    def _version(self) -> int:
        stream = self._stream
        stream.place = "the format version"
        raw = stream.take(4)
        version = int.from_bytes(raw, "little")
        # gguf.cpp recognises the other byte order by the empty low half
        if version & 0xFFFF == 0 and int.from_bytes(raw, "big") <= max(VERSIONS):
            stream.set_order(">")
            version = int.from_bytes(raw, "big")
        if version == 1:
            raise UserError(
                f"{stream.name} is in the first GGUF format, of 2023",
                "Version 1 at offset 4; llama.cpp reads only versions 2 and 3.",
                "Download a newer GGUF of the same model.",
            )
        if max(VERSIONS) < version <= MAX_TYPE:
            raise UserError(
                f"{stream.name} is in a newer GGUF format than this program knows",
                f"Version {version} at offset 4; versions 2 and 3 are known.",
                "Look for a newer version of this program, and of your runtime.",
            )
        if version not in VERSIONS:
            stream.damaged(f"version {version:,}, where only 2 and 3 exist")
        return version

    def _keys(self, n_keys: int) -> dict[str, KeyValue]:
        stream = self._stream
        layout = struct.Struct(stream.order + "I")
        keys: dict[str, KeyValue] = {}
        place = "the magic"
        for i in range(n_keys):
            stream.place = f"key {i + 1:,} of {n_keys:,} (after {place})" if i else "the first key"
            name = self._name(MAX_KEY_BYTES)
            if not name:
                stream.damaged("a key without a name")
            if name in keys:
                stream.damaged(f"the key {_shown(name)} for the second time")
            stream.place = place = f"key {_shown(name)}"
            (kind,) = stream.unpack(layout)
            keys[name] = self._value(kind)
        return keys

    def _value(self, kind: int) -> KeyValue:
        stream = self._stream
        if kind == _STRING:
            return self._text(stream.length())
        if kind == _ARRAY:
            return self._array()
        code = _SCALARS.get(kind)
        if code is None:
            stream.damaged(f"value type {kind:,}, where 0 to 12 exist")
        (value,) = stream.unpack(struct.Struct(stream.order + code))
        return bool(value) if kind == _BOOL else value

    def _text(self, n: int) -> str | SkippedArray:
        if n > KEPT_TEXT_BYTES or not self._keep(n):
            self._stream.skip(n)
            return SkippedArray(_TYPE_NAMES[_STRING], n)
        return self._decode(self._stream.take(n))

    def _array(self, depth: int = 1) -> tuple[Scalar, ...] | SkippedArray:
        stream = self._stream
        kind, n = stream.unpack(struct.Struct(stream.order + "IQ"))
        if kind >= len(_TYPE_NAMES):
            stream.damaged(f"an array of value type {kind:,}, where 0 to 12 exist")
        if n > MAX_ARRAY_ENTRIES:
            stream.damaged(f"an array of {n:,} entries, where at most {MAX_ARRAY_ENTRIES:,} may be")
        code = _SCALARS.get(kind)
        if code is None:
            return self._texts_or_arrays(kind, n, depth)
        layout = struct.Struct(f"{stream.order}{n if n <= KEPT_ENTRIES else ''}{code}")
        if n > KEPT_ENTRIES:
            stream.skip(n * layout.size)
            return SkippedArray(_TYPE_NAMES[kind], n)
        if depth > 1 or not self._keep(32 * n):
            stream.skip(layout.size)
            return SkippedArray(_TYPE_NAMES[kind], n)
        values = stream.unpack(layout)
        return tuple(map(bool, values)) if kind == _BOOL else values

    def _texts_or_arrays(self, kind: int, n: int, depth: int) -> tuple[Scalar, ...] | SkippedArray:
        stream = self._stream
        self._texts += n if kind == _STRING else 16 * n  # an inner array takes that much longer
        if self._texts > MAX_TEXTS:
            stream.damaged(f"more than {MAX_TEXTS:,} texts or inner arrays in one header")
        if kind == _ARRAY:
            # llama.cpp refuses arrays in arrays (gguf.cpp, build 11434); the format allows them
            if depth >= MAX_DEPTH:
                stream.damaged(f"arrays inside arrays more than {MAX_DEPTH} deep")
            for _ in range(n):
                self._array(depth + 1)
        elif n > KEPT_ENTRIES or depth > 1:
            stream.skip_strings(n)
        else:
            texts = [self._text(stream.length()) for _ in range(n)]
            kept = tuple(text for text in texts if isinstance(text, str))
            if len(kept) == n:
                return kept
        return SkippedArray(_TYPE_NAMES[kind], n)

    def _alignment(self, keys: Mapping[str, KeyValue]) -> int:
        value = keys.get("general.alignment", DEFAULT_ALIGNMENT)
        if type(value) is not int or not 0 < value <= MAX_ALIGNMENT or value & (value - 1):
            self._stream.place = "key general.alignment"
            self._stream.damaged(f"alignment {value}, where a power of two is needed")
        return value

    def _tensors(self, n_tensors: int, alignment: int) -> tuple[Tensor, ...]:
        stream = self._stream
        order = stream.order
        n_dims_layout = struct.Struct(order + "I")
        rests = [struct.Struct(f"{order}{n}QIQ") for n in range(MAX_DIMS + 1)]
        tensors: list[Tensor] = []
        seen: set[str] = set()
        expected = 0
        name = "the last key"
        for i in range(n_tensors):
            stream.place = f"the entry of tensor {i + 1:,} of {n_tensors:,} (after {_shown(name)})"
            name = self._name(MAX_NAME_BYTES)
            if name in seen:
                stream.damaged(f"the tensor {_shown(name)} for the second time")
            seen.add(name)
            stream.place = f"the entry of tensor {_shown(name)}"
            (n_dims,) = stream.unpack(n_dims_layout)
            if n_dims > MAX_DIMS:
                stream.damaged(f"{n_dims:,} dimensions, where at most {MAX_DIMS} may be")
            *shape, type_id, offset = stream.unpack(rests[n_dims])
            tensor = Tensor(name, type_id, tuple(shape), offset, self._part)
            self._check(tensor, expected)
            expected = _pad(offset + tensor.n_bytes, alignment)
            tensors.append(tensor)
        return tuple(tensors)

    def _check(self, tensor: Tensor, expected: int) -> None:
        """Refuse what llama.cpp's gguf_init_from_reader refuses (build 11434)."""
        stream = self._stream
        if not quants.is_known(tensor.type_id):
            self._refuse_type(tensor)
        ggml_type = quants.TYPES[tensor.type_id]
        if math.prod(max(n, 1) for n in tensor.shape) > (1 << 63) - 1:
            stream.damaged(f"the shape {tensor.shape}, which no memory can hold")
        row = tensor.shape[0] if tensor.shape else 1
        if row % ggml_type.block_values:
            stream.damaged(
                f"rows of {row:,} values, which are not whole blocks of"
                f" {ggml_type.block_values} ({ggml_type.name})"
            )
        if tensor.offset != expected:
            stream.damaged(f"its data at {tensor.offset:,}, where {expected:,} must follow")

    def _refuse_type(self, tensor: Tensor) -> None:
        type_id, stream = tensor.type_id, self._stream
        where = f"At offset {stream.offset - 12:,}, tensor {_shown(tensor.name)}"
        where += f" has ggml type {type_id:,}"
        if type_id in quants.REMOVED:
            raise UserError(
                f"{stream.name} uses a quantisation that llama.cpp has removed",
                f"{where}, which current builds refuse to load.",
                "Download a newer GGUF of the same model, for example Q4_K_M or Q4_0.",
            )
        if type_id <= MAX_TYPE:
            raise UserError(
                f"{stream.name} uses a quantisation that is newer than this program",
                f"{where}, which is not in its table.",
                "Look for a newer version of this program.",
            )
        stream.damaged(f"ggml type {type_id:,}, which cannot be")

    def _name(self, limit: int) -> str:
        n = self._stream.length(limit)
        self._names_bytes += n
        if self._names_bytes > MAX_NAMES_BYTES:
            self._stream.damaged(f"more than {MAX_NAMES_BYTES:,} bytes of names")
        return self._decode(self._stream.take(n))

    def _decode(self, data: bytes) -> str:
        # broken UTF-8 stays visible and different names stay different
        return data.decode("utf-8", errors="backslashreplace")

    def _keep(self, n_bytes: int) -> bool:
        if self._kept_bytes + n_bytes > KEPT_BYTES:
            return False
        self._kept_bytes += n_bytes
        return True


def _shown(name: str) -> str:
    """Return a name fit for a message: short and without control characters."""
    short = name if len(name) <= SHOWN_CHARS else f"{name[:SHOWN_CHARS]}..."
    return short if short.isprintable() else ascii(short)


def _pad(n: int, alignment: int) -> int:
    return (n + alignment - 1) // alignment * alignment
