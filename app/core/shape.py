"""A model's hyperparameters as llama.cpp derives them from the keys (llama-hparams.cpp, 11434)."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.errors import UserError
from app.core.model import Model

# Default period of sliding-window layers and whether the first layer of a period is the full one
# (load_swa_pattern calls in src/models/*.cpp, 11434).
_PERIODS: Mapping[str, tuple[int, bool]] = {
    "gemma2": (2, False),
    "gemma3": (6, False),
    "gemma3n": (5, False),
    "gpt-oss": (2, False),
    "cohere2": (4, False),
    "olmo2": (4, False),
    "exaone4": (4, False),
    "exaone-moe": (4, False),
    "llama4": (4, False),
    "afmoe": (4, False),
    "mellum": (4, False),
    "muse-glimmer": (4, False),
    "gemma-embedding": (6, False),
    "plamo3": (8, False),
    "cohere2moe": (4, True),
    "laguna": (4, True),
    "smallthinker": (4, True),
    "modern-bert": (3, True),
}
# These read the pattern from the file alone.
_PATTERN_KEY_ONLY = frozenset(
    {"gemma4", "gemma4-assistant", "granite-swa", "maple", "mimo2", "spark2-5", "step35", "lfm2"}
)
_DEFAULT_WINDOW: Mapping[str, int] = {"gemma2": 4096, "exaone4": 4096}
_FIXED_WINDOW: Mapping[str, int] = {"llama4": 8192, "smallthinker": 4096}

# The keys below are counts; llama.cpp reads them as uint32 and takes at most 512 blocks
_COUNTS = (
    "block_count", "context_length", "embedding_length", "feed_forward_length", "vocab_size",
    "attention.head_count", "attention.head_count_kv", "attention.key_length",
    "attention.value_length", "attention.key_length_swa", "attention.value_length_swa",
    "attention.key_length_mla", "attention.value_length_mla", "attention.sliding_window",
    "attention.shared_kv_layers", "expert_count", "expert_used_count",
    "expert_feed_forward_length", "nextn_predict_layers", "leading_dense_block_count",
    "full_attention_interval", "embedding_length_per_layer_input", "shortconv.l_cache",
    "ssm.inner_size", "ssm.state_size", "ssm.group_count", "ssm.conv_kernel",
    "ssm.time_step_rank", "wkv.head_size", "token_shift_count", "kda.head_dim",
)  # fmt: skip
_LARGEST_COUNT = (1 << 32) - 1
_MAX_BLOCKS = 512  # LLAMA_MAX_LAYERS, src/llama-hparams.h, build 11434

# Numbers that add or leave out nodes of the graph (hparams of src/models/*.cpp, 11434)
_TRAITS = (
    "embedding_scale", "residual_scale", "logit_scale", "expert_weights_scale",
    "expert_weights_norm", "expert_gating_func", "expert_group_count", "expert_group_used_count",
    "attn_logit_softcapping", "final_logit_softcapping", "attention.temperature_scale",
    "rope.scaling.finetuned", "ssm.dt_b_c_rms", "use_parallel_residual", "n_deepstack_layers",
)  # fmt: skip

_ATTENTION_OR_RECURRENT = frozenset(
    {"granitehybrid", "lfm2", "lfm2moe", "jamba", "plamo2", "kimi-linear"}
)
_NEMOTRON = frozenset({"nemotron_h", "nemotron_h_moe"})
_EVERY_FOURTH = frozenset({"qwen3next", "qwen35", "qwen35moe"})
_ALL_RECURRENT = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
# Compressed or indexed caches are not derived here (placement.md 2.2): ask llama.cpp.
UNDERIVED_CACHES = frozenset(
    {"deepseek32", "glm-dsa", "glm5-next", "minimax-m3", "deepseek4", "kimi-k3", "hy-v4",
     "dots3note"}
)  # fmt: skip
# The output weight is created before the embedding, so a host-only load holds it twice.
OUTPUT_FIRST = frozenset({"gemma3n", "gemma4"})


@dataclass(frozen=True, slots=True)
class LayerShape:
    """One block's attention and state; sizes in values per cell, 0 = the block has none."""

    k_values: int
    v_values: int
    n_head_kv: int
    head_k: int
    head_v: int
    is_swa: bool
    owns_cache: bool
    r_values: int  # recurrent state per sequence
    s_values: int
    n_ff: int


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers that placement needs; counts are of layers, heads or values."""

    arch: str
    n_layer_all: int  # including MTP blocks
    n_layer: int
    n_ctx_train: int
    n_embd: int
    n_head: int
    head_k: int
    n_vocab: int
    n_swa: int
    is_mla: bool
    key_length_mla: int
    n_expert: int
    n_expert_used: int
    n_ff_exp: int
    n_ff: int
    n_lead_dense: int  # blocks before the first one with experts
    per_layer_dim: int
    inner: int
    state: int
    groups: int
    dt_rank: int
    layers: tuple[LayerShape, ...]  # n_layer of them; MTP blocks have no cache here
    traits: tuple[tuple[str, float], ...] = ()  # numbers that decide which nodes the graph has

    @property
    def layers_total(self) -> int:
        """Return the M of llama.cpp's "offloaded N/M": all blocks and the output layer."""
        return self.n_layer_all + 1

    @property
    def has_swa(self) -> bool:
        """Tell whether any layer attends to a window only."""
        return self.n_swa > 0 and any(layer.is_swa for layer in self.layers)


def shape_of(model: Model) -> Shape:
    """Derive the shape; UserError when the header lacks what llama.cpp requires, or lies."""
    _check_counts(model)
    n_all = model.whole("block_count")
    n_embd = model.whole("embedding_length")
    if not model.arch or n_all is None or n_embd is None:
        raise UserError(
            "This file does not describe a language model",
            f"The header of {model.name} has no block count or embedding length.",
            "If it is a vision projector (mmproj) or an adapter, open the model file instead.",
        )
    n_layer = n_all - (model.whole("nextn_predict_layers") or 0)
    if not 0 < n_layer <= n_all <= _MAX_BLOCKS:
        raise _wrong(model, "block_count", f"{n_all}, of which {n_layer} are loaded")
    n_head = max(_per_layer(model, "attention.head_count", n_all, 0), default=0)
    layers = tuple(_layer(model, i, n_layer, n_all, n_embd) for i in range(n_layer))
    is_mla = bool(
        model.whole("attention.key_length_mla") and model.whole("attention.value_length_mla")
    )
    ff = _per_layer(model, "feed_forward_length", n_all, 0)
    n_ff = max(ff, default=0)
    used = _per_layer(model, "expert_used_count", n_all, 0)
    head_k = model.whole("attention.key_length") or (n_embd // n_head if n_head else 0)
    return Shape(
        arch=model.arch,
        n_layer_all=n_all,
        n_layer=n_layer,
        n_ctx_train=model.whole("context_length") or 0,
        n_embd=n_embd,
        n_head=n_head,
        head_k=head_k,
        n_vocab=_vocabulary(model),
        n_swa=_window(model),
        is_mla=is_mla,
        key_length_mla=model.whole("attention.key_length_mla") or 0,
        n_expert=model.whole("expert_count") or 0,
        n_expert_used=max(used, default=0),
        n_ff_exp=max(_per_layer(model, "expert_feed_forward_length", n_all, 0), default=0) or n_ff,
        n_ff=n_ff,
        n_lead_dense=model.whole("leading_dense_block_count") or 0,
        per_layer_dim=model.whole("embedding_length_per_layer_input")
        or (_per_layer_width(model, n_all)),
        inner=model.whole("ssm.inner_size") or 0,
        state=model.whole("ssm.state_size") or 0,
        groups=model.whole("ssm.group_count") or 0,
        dt_rank=model.whole("ssm.time_step_rank") or 0,
        layers=layers,
        traits=tuple((name, x) for name in _TRAITS if (x := _number(model, name)) is not None),
    )


def _number(model: Model, name: str) -> float | None:
    value = model.key(name)
    return float(value) if isinstance(value, int | float) else None


def _check_counts(model: Model) -> None:
    for name in _COUNTS:
        value = model.key(name)
        for count in value if isinstance(value, tuple) else (value,):
            # a NaN is in no range
            if isinstance(count, int | float) and not 0 <= count <= _LARGEST_COUNT:
                raise _wrong(model, name, str(count))


def _wrong(model: Model, name: str, value: str) -> UserError:
    return UserError(
        f"The header of {model.name} cannot be right",
        f"{model.arch}.{name} is {value}.",
        "No runtime will load it; get the file again.",
    )


def _layer(model: Model, i: int, n_layer: int, n_all: int, n_embd: int) -> LayerShape:
    n_head = _per_layer(model, "attention.head_count", n_all, 0)[i]
    n_head_kv = _per_layer(model, "attention.head_count_kv", n_all, n_head)[i]
    n_ff = _per_layer(model, "feed_forward_length", n_all, 0)[i]
    is_swa = _is_swa(model, i)
    plain = n_embd // n_head if n_head else 0
    head_k = model.whole("attention.key_length") or plain
    head_v = model.whole("attention.value_length") or plain
    if is_swa:
        head_k = model.whole("attention.key_length_swa") or head_k
        head_v = model.whole("attention.value_length_swa") or head_v
    recurrent = _is_recurrent(model, i, n_head_kv, n_ff)
    both = model.arch == "falcon-h1"
    attends = n_head_kv > 0 and (both or not recurrent)
    r_values, s_values = _state(model, n_embd, n_head) if recurrent or both else (0, 0)
    return LayerShape(
        k_values=n_head_kv * head_k if attends else 0,
        v_values=n_head_kv * head_v if attends else 0,
        n_head_kv=n_head_kv,
        head_k=head_k,
        head_v=head_v,
        is_swa=is_swa,
        owns_cache=attends and i < _own_caches(model, n_layer),
        r_values=r_values,
        s_values=s_values,
        n_ff=n_ff,
    )


def _per_layer(model: Model, name: str, n_all: int, default: int) -> tuple[int, ...]:
    value = model.key(name)
    if isinstance(value, tuple):
        numbers = tuple(int(x) for x in value if isinstance(x, int | float))
        return (numbers + (default,) * n_all)[:n_all]
    number = int(value) if isinstance(value, int | float) else default
    return (number,) * n_all


def _is_swa(model: Model, i: int) -> bool:
    if not _window(model):
        return False
    pattern = model.key("attention.sliding_window_pattern")
    if isinstance(pattern, tuple):
        return i < len(pattern) and bool(pattern[i])
    if model.arch in _PATTERN_KEY_ONLY:
        return False
    period, dense_first = _PERIODS[model.arch]
    if isinstance(pattern, int) and not isinstance(pattern, bool):
        period = pattern
    if period == 0:
        return True
    return i % period != 0 if dense_first else i % period < period - 1


def _window(model: Model) -> int:
    arch = model.arch
    if arch not in _PERIODS and arch not in _PATTERN_KEY_ONLY:
        return 0  # Phi-3 and others carry the key, llama.cpp ignores it (models/phi3.cpp)
    given = model.whole("attention.sliding_window")
    if arch == "llama4":
        return 0 if given == 0 else _FIXED_WINDOW[arch]
    n_layer = (model.whole("block_count") or 0) - (model.whole("nextn_predict_layers") or 0)
    if arch == "exaone4" and n_layer != 64:
        return 0  # only the 32B model has windows (models/exaone4.cpp)
    if given and arch in _FIXED_WINDOW:
        return _FIXED_WINDOW[arch]
    return given if given is not None else _DEFAULT_WINDOW.get(arch, 0)


def _own_caches(model: Model, n_layer: int) -> int:
    """Return how many layers from the start own a cache; later ones share (Gemma 3n and 4)."""
    if model.arch == "gemma3n":
        return 20
    if model.arch == "gemma4":
        return n_layer - (model.whole("attention.shared_kv_layers") or 0)
    return n_layer


def _is_recurrent(model: Model, i: int, n_head_kv: int, n_ff: int) -> bool:
    arch = model.arch
    if arch in _ALL_RECURRENT:
        return True
    if arch in _ATTENTION_OR_RECURRENT:
        return n_head_kv == 0
    if arch in _NEMOTRON:
        return n_head_kv == 0 and n_ff == 0
    if arch in _EVERY_FOURTH:
        listed = model.key("attention.recurrent_layers")
        if isinstance(listed, tuple):
            return i < len(listed) and bool(listed[i])
        return (i + 1) % (model.whole("full_attention_interval") or 4) != 0
    return False


def _state(model: Model, n_embd: int, n_head: int) -> tuple[int, int]:
    """Return R and S in values per sequence (llama_hparams::n_embd_r and n_embd_s)."""
    wkv = model.whole("wkv.head_size")
    if wkv:
        return (model.whole("token_shift_count") or 2) * n_embd, n_embd * wkv
    l_cache = model.whole("shortconv.l_cache")
    if l_cache:
        return n_embd * (l_cache - 1), 0
    conv = max((model.whole("ssm.conv_kernel") or 1) - 1, 0)
    kda = model.whole("kda.head_dim")
    if kda:
        return 3 * (conv or 3) * n_head * kda, kda * kda * n_head
    inner = model.whole("ssm.inner_size") or 0
    state = model.whole("ssm.state_size") or 0
    groups = model.whole("ssm.group_count") or 0
    return conv * (inner + 2 * groups * state), state * inner


def _vocabulary(model: Model) -> int:
    embedding = model.by_name.get("token_embd.weight")
    if embedding is not None and len(embedding.shape) > 1:
        return embedding.shape[1]
    return model.whole("vocab_size") or 0


def _per_layer_width(model: Model, n_all: int) -> int:
    table = model.by_name.get("per_layer_token_embd.weight")
    return table.shape[0] // n_all if table is not None and n_all else 0
