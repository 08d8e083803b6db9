"""Builds models in memory from published shapes: keys and tensors, as a header would give them."""

import re
from collections.abc import Callable, Sequence

from app.core import quants
from app.core.model import KeyValue, Model, Part, Tensor

_ALIGNMENT = 32
_SMALL = re.compile(
    r"ffn_gate_inp|ssm_conv1d|shortconv\.conv|ssm_[ad]$|altup_(correct|predict)_coef|ssm_norm"
)
_TABLES = ("output.weight", "token_embd.weight")

Recipe = Callable[[str], str]


def mixture(name: str) -> str:
    """Return the type in a plain "M" mixture: 6 bits for output, values and down, else 4."""
    if name in (*_TABLES, "per_layer_token_embd.weight"):
        return "q6_K"
    if _SMALL.search(name):
        return "f32"
    return "q6_K" if re.search(r"attn_v|ffn_down", name) else "q4_K"


def _uniform(base: str, table: str = "") -> Recipe:
    def pick(name: str) -> str:
        if _SMALL.search(name):
            return "f32"
        return table or base if name in _TABLES else base

    return pick


def _experts_in_mxfp4(name: str) -> str:
    if _SMALL.search(name):
        return "f32"
    return "mxfp4" if "_exps" in name else "q8_0"


RECIPES: dict[str, Recipe] = {
    "q4_K_M": mixture,
    "q8_0": _uniform("q8_0"),
    "f16": _uniform("f16"),
    "q4_0": _uniform("q4_0", "q6_K"),
    "mxfp4_moe": _experts_in_mxfp4,
    "iq4_xs": _uniform("iq4_xs", "q6_K"),
    "iq2_xxs": _uniform("iq2_xxs", "q4_K"),
    "bf16": _uniform("bf16"),
}


class Builder:
    """Collects the keys and tensors of one model."""

    def __init__(self, name: str, arch: str, recipe: str) -> None:
        self.name = name
        self.arch = arch
        self._recipe = RECIPES[recipe]
        self._keys: dict[str, KeyValue] = {"general.architecture": arch, "general.name": name}
        self._tensors: list[Tensor] = []
        self._offset = 0

    def key(self, name: str, value: KeyValue | Sequence[int | bool]) -> None:
        """Set a key of the architecture, for example attention.head_count."""
        kept: KeyValue = tuple(value) if isinstance(value, list) else value  # type: ignore[assignment]  # a list holds ints or bools alone
        self._keys[f"{self.arch}.{name}"] = kept

    def add(self, name: str, *shape: int, type_name: str = "") -> None:
        """Add a tensor; without a type the recipe's, or f32 for vectors and biases."""
        if not type_name:
            is_vector = len(shape) == 1 or name.endswith(".bias")
            type_name = "f32" if is_vector else self._recipe(name)
        if shape[0] % quants.BY_NAME[type_name].block_values:
            type_name = "q8_0" if shape[0] % 32 == 0 else "f16"
        tensor = Tensor(name, quants.BY_NAME[type_name].id, shape, self._offset)
        self._tensors.append(tensor)
        self._offset += -(-tensor.n_bytes // _ALIGNMENT) * _ALIGNMENT

    def block(self, i: int, name: str, *shape: int, type_name: str = "") -> None:
        """Add blk.i.NAME.weight."""
        self.add(f"blk.{i}.{name}.weight", *shape, type_name=type_name)

    def model(self) -> Model:
        """Return the model."""
        part = Part(f"{self.name}.gguf", self._offset, 0, _ALIGNMENT)
        return Model(
            f"{self.name}.gguf", self.arch, 3, False, self._keys, tuple(self._tensors), (part,)
        )
