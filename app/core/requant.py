"""What a model would be in another quantisation: tensor types as llama.cpp's quantiser mixes them.

Rule: tensor_allows_quantization, llama_tensor_get_type_impl and tensor_type_fallback in
src/llama-quant.cpp, build 11434, without an importance matrix. Tolerance: none for files made that
way, each tensor's type and the sum of bytes are the quantiser's (tests/core/test_requant.py runs
it). A file made with an importance matrix differs in the first eighth of its ffn_down tensors
(Q4_0, IQ4_NL and IQ4_XS: under 1 % of the bytes); "dynamic" mixtures by other makers may differ by
10 % and more. Types that need an importance matrix (IQ1, IQ2, IQ3_XS, IQ3_XXS, Q2_K_S) are not
offered, and architectures with rules of their own are refused.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from app.core import quants
from app.core.errors import UserError
from app.core.model import Model, Part, Tensor

SOURCE = "calculated by the rules of llama.cpp's quantiser (build 11434, no importance matrix)"
# Which block of how many, and the query heads per KV head: a larger type, or None for the base
_Mix = Callable[[int, int, int], str | None]


class _Role(Enum):
    """The classes of tensors the quantiser tells apart (tensor_get_category)."""

    OUTPUT = "output"
    EMBEDDING = "embedding"
    V = "attention v, qkv and kv_b"
    K = "attention k"
    ATTENTION_OUTPUT = "attention output"
    DOWN = "ffn down"
    OTHER = "other"


def _same(_i: int, _n: int, _gqa: int) -> str | None:
    return None


def _always(name: str) -> _Mix:
    return lambda _i, _n, _gqa: name


def _first(share: int, name: str, then: str | None = None) -> _Mix:
    return lambda i, n, _gqa: name if i < n // share else then


def _some(name: str) -> _Mix:
    """Return use_more_bits: the first and last eighth, and every third block between."""
    return lambda i, n, _gqa: (
        name if i < n // 8 or i >= 7 * n // 8 or (i - n // 8) % 3 == 2 else None
    )


def _shared_heads(name: str, otherwise: str | None = None) -> _Mix:
    return lambda _i, _n, gqa: name if gqa >= 4 else otherwise


@dataclass(frozen=True, slots=True)
class _Recipe:
    """The base type of a file type, and which tensors get a larger one."""

    base: str
    v: _Mix = _same
    down: _Mix = _same
    attention_output: str | None = None
    attention_output_8: str | None = None  # models with exactly 8 experts


_RECIPES: Mapping[str, _Recipe] = {
    "F32": _Recipe("f32"),
    "BF16": _Recipe("bf16"),
    "F16": _Recipe("f16"),
    "Q8_0": _Recipe("q8_0"),
    "Q6_K": _Recipe("q6_K"),
    "Q5_K_M": _Recipe("q5_K", v=_some("q6_K"), down=_some("q6_K")),
    "Q5_K_S": _Recipe("q5_K"),
    "Q5_1": _Recipe("q5_1"),
    "Q5_0": _Recipe("q5_0"),
    "Q4_K_M": _Recipe("q4_K", v=_some("q6_K"), down=_some("q6_K"), attention_output_8="q5_K"),
    "Q4_K_S": _Recipe(
        "q4_K",
        v=lambda i, _n, _gqa: "q5_K" if i < 4 else None,
        down=_first(8, "q5_K"),
        attention_output_8="q5_K",
    ),
    "IQ4_NL": _Recipe(
        "iq4_nl", v=_shared_heads("q5_K"), down=_first(8, "q5_K"), attention_output_8="q5_K"
    ),
    "IQ4_XS": _Recipe(
        "iq4_xs", v=_shared_heads("q5_K"), down=_first(8, "q5_K"), attention_output_8="q5_K"
    ),
    "Q4_1": _Recipe("q4_1"),
    "Q4_0": _Recipe("q4_0"),
    "Q3_K_L": _Recipe("q3_K", v=_always("q5_K"), down=_always("q5_K"), attention_output="q5_K"),
    "Q3_K_M": _Recipe(
        "q3_K",
        v=lambda i, _n, _gqa: "q5_K" if i < 2 else "q4_K",
        down=_first(16, "q5_K", "q4_K"),
        attention_output="q4_K",
        attention_output_8="q5_K",
    ),
    "Q3_K_S": _Recipe("q3_K", attention_output_8="q5_K"),
    "IQ3_S": _Recipe("iq3_s", v=_shared_heads("q4_K"), attention_output_8="q5_K"),
    "Q2_K": _Recipe(
        "q2_K",
        v=_shared_heads("q4_K", "q3_K"),
        down=_always("q3_K"),
        attention_output="q3_K",
        attention_output_8="q5_K",
    ),
}
FILE_TYPES = tuple(_RECIPES)  # from large to small
_OWN_RULES = frozenset({"falcon", "glm5-next"})
# A row that its type's blocks do not divide takes the type on the right (tensor_type_fallback)
_FALLBACK: Mapping[str, str] = {
    "iq3_s": "iq4_nl", "iq4_xs": "iq4_nl", "q2_K": "q4_0", "q3_K": "q4_0", "q4_K": "q5_0",
    "q5_K": "q5_1", "q6_K": "q8_0",
}  # fmt: skip
_KEPT = re.compile(
    r"_norm\.weight|ffn_gate_inp\.weight|ffn_gate_tid2eid\.weight|altup|laurel|per_layer_model_proj"
    r"|^position_embd\.weight|^token_types\.weight|ssm_conv1d|shortconv\.conv\.weight"
    r"|indexer\.[kq]_proj\.weight|time_mix_first\.weight|time_mix_([wva][012]|g[12])\.weight"
    r"|time_mix_decay_w[12]\.weight|time_mix_lerp_fused\.weight|attn_rel_b\.weight"
    r"|\.position_embd|sam\.(pos_embd|neck\.|net_)|\.rel_pos|\.patch_(embd|merger)"
    r"|a\.rvq\.codebook|mm\.a\.code_embd"
)
# In the quantiser's order: the first that occurs in the name
_ROLES = (
    ("attn_qkv.weight", _Role.V),
    ("attn_kv_b.weight", _Role.V),
    ("attn_v.weight", _Role.V),
    ("attn_k.weight", _Role.K),
    ("attn_q.weight", _Role.OTHER),
    ("attn_output.weight", _Role.ATTENTION_OUTPUT),
    ("ffn_up", _Role.OTHER),
    ("ffn_gate", _Role.OTHER),
    ("ffn_down", _Role.DOWN),
)


@dataclass(frozen=True, slots=True)
class _Sorted:
    """A tensor with its role and its number among those of the role, in the quantiser's order."""

    tensor: Tensor
    role: _Role
    number: int
    may_change: bool


@dataclass(frozen=True, slots=True)
class Requant:
    """A model made ready to be re-typed; made once, used for each file type."""

    model: Model
    sorted: tuple[_Sorted, ...]
    n_blocks: int
    n_v: int
    gqa: int
    n_expert: int
    is_tied: bool
    is_70b: bool

    def types(self, file_type: str) -> Mapping[str, str]:
        """Return each tensor's type name; UserError for a file type that is not offered."""
        recipe = _RECIPES.get(file_type)
        if recipe is None:
            raise UserError(
                f"The quantisation {file_type} is not offered",
                "",
                f"Use one of {', '.join(FILE_TYPES)}.",
            )
        return {
            one.tensor.name: self._type(one, recipe)
            if one.may_change
            else quants.name_of(one.tensor.type_id)
            for one in self.sorted
        }

    def _type(self, one: _Sorted, recipe: _Recipe) -> str:
        base = quants.BY_NAME[recipe.base]
        if base.block_values == 1:
            return base.name
        chosen = self._mixed(one, recipe)
        width = one.tensor.shape[0]
        if width % quants.BY_NAME[chosen].block_values:
            chosen = _FALLBACK.get(chosen, chosen)
            if width % quants.BY_NAME[chosen].block_values:
                return "f16"
        return chosen

    def _mixed(self, one: _Sorted, recipe: _Recipe) -> str:
        base = recipe.base
        if one.role is _Role.OUTPUT or (self.is_tied and one.role is _Role.EMBEDDING):
            divides = one.tensor.shape[0] % quants.BY_NAME[base].block_values == 0
            return "q6_K" if divides and base != "q8_0" else "q8_0"
        if one.role is _Role.V:
            chosen = recipe.v(one.number, self.n_v, self.gqa) or base
            if self.is_70b and chosen in ("q3_K", "q4_K"):
                chosen = "q5_K"  # 8 query heads share one V, so more bits cost little
            return "q8_0" if self.n_expert == 8 else chosen
        if one.role is _Role.K:
            return "q8_0" if self.n_expert == 8 else base
        if one.role is _Role.DOWN:
            return recipe.down(one.number, self.n_blocks, self.gqa) or base
        if one.role is _Role.ATTENTION_OUTPUT:
            larger = recipe.attention_output
            return (recipe.attention_output_8 if self.n_expert == 8 else larger) or base
        return base


def prepare(model: Model) -> Requant:
    """Sort a model's tensors by role; UserError for architectures with rules of their own."""
    if model.arch in _OWN_RULES:
        raise UserError(
            f"Other quantisations of {model.arch} models are not calculated",
            "llama.cpp's quantiser treats this architecture by rules of its own.",
        )
    n_blocks = model.whole("block_count") or 0
    n_expert = model.whole("expert_count") or 0
    heads = _first_entry(model, "attention.head_count")
    heads_kv = _first_entry(model, "attention.head_count_kv", heads)
    found = tuple(_in_order(model, is_moe=n_expert > 1))
    return Requant(
        model=model,
        sorted=found,
        n_blocks=n_blocks,
        n_v=sum(one.role is _Role.V for one in found),
        gqa=heads // heads_kv if heads_kv else 0,
        n_expert=n_expert,
        is_tied="output.weight" not in model.by_name,
        is_70b=_is_70b(model.arch, n_blocks, heads, heads_kv),
    )


def requantised(model: Model, file_type: str) -> Model:
    """Return the model as the quantiser would write it: one file, other types, new offsets."""
    types = prepare(model).types(file_type)
    first = model.parts[0] if model.parts else Part(model.name, 0, 0, 32)
    tensors = []
    offset = 0
    for tensor in sorted(model.tensors, key=_order):
        type_id = _type_id(types[tensor.name], tensor)
        made = Tensor(tensor.name, type_id, tensor.shape, offset)
        tensors.append(made)
        n_bytes = made.n_bytes if quants.is_known(type_id) else 0
        offset += -(-n_bytes // first.alignment) * first.alignment
    ids = {name: number for number, name in quants.FILE_TYPES.items()}
    return Model(
        name=f"{model.name} as {file_type}",
        arch=model.arch,
        version=model.version,
        is_big_endian=model.is_big_endian,
        keys={**model.keys, "general.file_type": ids[file_type]},
        tensors=tuple(tensors),
        parts=(Part(first.path, first.data_offset + offset, first.data_offset, first.alignment),),
    )


def _in_order(model: Model, *, is_moe: bool) -> Iterator[_Sorted]:
    numbers = {_Role.V: 0, _Role.DOWN: 0}
    for tensor in sorted(model.tensors, key=_order):
        role = _role(tensor.name)
        may_change = _may_change(tensor)
        number = numbers.get(role, 0)
        if role is _Role.DOWN and is_moe:
            number = tensor.block or 0  # experts do not follow each other in every file
        yield _Sorted(tensor, role, number, may_change)
        if may_change and role in numbers:
            numbers[role] += 1


def _order(tensor: Tensor) -> tuple[int, str]:
    # weight_name_comparer in src/llama-model-loader.h
    return (-1 if tensor.block is None else tensor.block, tensor.name)


def _role(name: str) -> _Role:
    if name == "output.weight":
        return _Role.OUTPUT
    if name in ("token_embd.weight", "per_layer_token_embd.weight"):
        return _Role.EMBEDDING
    return next((role for words, role in _ROLES if words in name), _Role.OTHER)


def _may_change(tensor: Tensor) -> bool:
    is_matrix = any(n > 1 for n in tensor.shape[1:])
    return is_matrix and tensor.name.endswith("weight") and not _KEPT.search(tensor.name)


def _type_id(name: str, tensor: Tensor) -> int:
    known = quants.BY_NAME.get(name)
    return known.id if known else tensor.type_id


def _first_entry(model: Model, name: str, default: int = 0) -> int:
    value = model.key(name)
    if isinstance(value, tuple):
        value = value[0] if value else default
    return int(value) if isinstance(value, int | float) else default


def _is_70b(arch: str, n_blocks: int, heads: int, heads_kv: int) -> bool:
    # load_arch_hparams in src/models, build 11434: which models are LLM_TYPE_70B
    if arch == "llama":
        return n_blocks == 80 and heads != heads_kv
    return (arch in ("qwen2", "deci", "olmo") and n_blocks == 80) or (
        arch == "jais2" and n_blocks == 68
    )
