"""A model as its GGUF header describes it: keys, tensors, files, and what is wrong with them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from app.core import quants

Scalar = int | float | bool | str


@dataclass(frozen=True, slots=True)
class SkippedArray:
    """An array whose body was not kept, for example the token list."""

    type_name: str
    n: int


KeyValue = Scalar | tuple[Scalar, ...] | SkippedArray


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the header; offset counts from the start of its part's data section, in bytes."""

    name: str
    type_id: int
    shape: tuple[int, ...]  # ne0 first
    offset: int
    part: int = 0

    @property
    def n_values(self) -> int:
        """Return the number of values."""
        values = 1
        for n in self.shape:
            values *= n
        return values

    @property
    def n_bytes(self) -> int:
        """Return ggml_nbytes: the bytes without alignment or padding."""
        return quants.n_bytes(self.type_id, self.n_values)

    @property
    def block(self) -> int | None:
        """Return the block index of blk.N.*, None for other tensors."""
        if not self.name.startswith("blk."):
            return None
        digits = self.name[4:].split(".", 1)[0]
        return int(digits) if digits.isdigit() else None


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a model; data_offset is where tensor data starts, both in bytes."""

    path: str
    file_bytes: int
    data_offset: int
    alignment: int


class Fault(Enum):
    """What is wrong with a file that could still be read."""

    TRUNCATED_DATA = "truncated-data"
    PART_MISSING = "part-missing"
    UNKNOWN_TYPE = "unknown-type"
    WRONG_BYTE_ORDER = "wrong-byte-order"


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """A fault of the file, in words, with the missing bytes where they can be counted."""

    fault: Fault
    text: str
    missing_bytes: int | None = None
    tensor: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A model file or set of split files, as far as the header tells."""

    name: str  # file name of the first part
    arch: str
    version: int
    is_big_endian: bool
    keys: Mapping[str, KeyValue]
    tensors: tuple[Tensor, ...]
    parts: tuple[Part, ...]
    problems: tuple[ModelProblem, ...] = ()
    by_name: Mapping[str, Tensor] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {tensor.name: tensor for tensor in self.tensors})

    @property
    def path(self) -> str:
        """Return the path of the first part."""
        return self.parts[0].path if self.parts else self.name

    @property
    def file_bytes(self) -> int:
        """Return the size of all parts that are there."""
        return sum(part.file_bytes for part in self.parts)

    @property
    def tensor_bytes(self) -> int:
        """Return the bytes of all tensors of known type."""
        return sum(t.n_bytes for t in self.tensors if quants.is_known(t.type_id))

    def key(self, name: str) -> KeyValue | None:
        """Return a key of the architecture, for example block_count; None when absent."""
        return self.keys.get(f"{self.arch}.{name}")

    def whole(self, name: str, default: int | None = None) -> int | None:
        """Return an architecture key as a whole number; arrays give their first entry's default."""
        value = self.key(name)
        if isinstance(value, int | float) and math.isfinite(value):
            return int(value)
        return default

    def text(self, full_name: str, default: str = "") -> str:
        """Return a text by its full key, for example general.name."""
        value = self.keys.get(full_name)
        return value if isinstance(value, str) else default
