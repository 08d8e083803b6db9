"""The context memory of a load: KV caches and recurrent state, by layer (placement.md section 2).

Sources: llama_kv_cache, llama_kv_cache_iswa and llama_memory_recurrent, llama.cpp build 11434.
"""

from dataclasses import dataclass

from app.core import quants
from app.core.errors import UserError
from app.core.request import LoadRequest, Switch, Tool
from app.core.shape import LayerShape, Shape

SERVER_SLOTS = 4
_PAD = 256
_F32 = 4


@dataclass(frozen=True, slots=True)
class Context:
    """How many cells and sequences a load has."""

    n_ctx: int  # cells in all
    n_ctx_seq: int  # cells of one sequence's stream
    n_seq_max: int
    is_unified: bool
    n_batch: int
    n_ubatch: int
    flash_attn: bool

    @property
    def streams(self) -> int:
        """Return how many separate streams of cells there are."""
        return 1 if self.is_unified else self.n_seq_max


@dataclass(frozen=True, slots=True)
class Cache:
    """One cache as llama.cpp's "size = ... MiB" line reports it."""

    cells: int  # per stream
    streams: int
    is_swa: bool
    layers: tuple[int, ...]
    bytes_by_layer: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        """Return the bytes of all layers."""
        return sum(self.bytes_by_layer)


def pad(n: int, to: int = _PAD) -> int:
    """Round up to a multiple."""
    return (n + to - 1) // to * to


def context_of(shape: Shape, request: LoadRequest) -> Context:
    """Derive cells, slots and batch sizes from the request and the program's defaults."""
    asked = request.ctx or shape.n_ctx_train
    if asked <= 0:
        raise UserError(
            "The context length is not known",
            "The header names no training context and none was given.",
            "Give a context length.",
        )
    if request.tool is Tool.SERVER and request.parallel is None:
        n_seq_max, is_unified = SERVER_SLOTS, True
    else:
        n_seq_max, is_unified = max(request.parallel or 1, 1), False
    n_ctx = pad(asked)
    n_ctx_seq = n_ctx
    if not is_unified:
        n_ctx_seq = pad(n_ctx // n_seq_max)
        n_ctx = n_ctx_seq * n_seq_max
    n_batch = min(request.batch, n_ctx)
    return Context(
        n_ctx=n_ctx,
        n_ctx_seq=n_ctx_seq,
        n_seq_max=n_seq_max,
        is_unified=is_unified,
        n_batch=n_batch,
        n_ubatch=min(request.ubatch, n_batch),
        flash_attn=request.flash_attn is not Switch.OFF,
    )


def check_types(shape: Shape, request: LoadRequest) -> None:
    """Raise UserError for cache types that llama.cpp refuses for this model."""
    for name in (request.cache_type_k, request.cache_type_v):
        if name not in quants.CACHE_TYPES:
            raise UserError(
                f"Unknown cache type {name}", "", f"Use one of {', '.join(quants.CACHE_TYPES)}."
            )
    if request.flash_attn is Switch.OFF:
        check_without_flash(request)
    if shape.is_mla and request.cache_type_k != request.cache_type_v:
        raise UserError(
            "This model's cache takes one type for K and V",
            f"K is {request.cache_type_k} and V is {request.cache_type_v}; llama.cpp refuses this "
            "for compressed attention (MLA).",
            "Give both the same type.",
        )
    for layer in shape.layers:
        for width, name in (
            (layer.head_k, request.cache_type_k),
            (layer.head_v, request.cache_type_v),
        ):
            if layer.owns_cache and width % quants.BY_NAME[name].block_values:
                raise UserError(
                    f"The cache type {name} does not suit this model",
                    f"Its attention heads have {width} values, which {name} cannot divide.",
                    "Use f16.",
                )


def check_without_flash(request: LoadRequest) -> None:
    """Raise UserError for a V cache that llama.cpp refuses without flash attention."""
    if quants.BY_NAME[request.cache_type_v].block_values > 1:
        raise UserError(
            "A quantised V cache needs flash attention",
            f"V is {request.cache_type_v} and flash attention is off; llama.cpp refuses this.",
            "Turn flash attention on, or use f16 for V.",
        )


def caches_of(shape: Shape, context: Context, request: LoadRequest) -> tuple[Cache, ...]:
    """Return the KV caches: full-attention layers first, then sliding-window layers."""
    found = []
    for cells, is_swa in cells_of(shape, context, request):
        layers = [
            i for i, layer in enumerate(shape.layers) if layer.owns_cache and layer.is_swa is is_swa
        ]
        found.append(_cache(shape, context, request, layers, cells, is_swa=is_swa))
    return tuple(found)


def cells_of(shape: Shape, context: Context, request: LoadRequest) -> tuple[tuple[int, bool], ...]:
    """Return the cells per stream of each cache, and whether it is the sliding windows'."""
    cells = context.n_ctx_seq
    found = []
    if any(layer.owns_cache and not layer.is_swa for layer in shape.layers):
        found.append((cells, False))
    if any(layer.owns_cache and layer.is_swa for layer in shape.layers):
        slots = context.n_seq_max if context.is_unified else 1
        small = pad(min(cells, shape.n_swa * slots + context.n_ubatch))
        found.append((cells if request.swa_full else small, True))
    return tuple(found)


def state_bytes(layer: LayerShape, context: Context) -> int:
    """Return the recurrent state of a layer: f32, one cell per sequence."""
    return (layer.r_values + layer.s_values) * _F32 * max(1, context.n_seq_max)


def cell_bytes(shape: Shape, i: int, request: LoadRequest, flash_attn: bool) -> int:
    """Return the bytes of one cell of a layer's cache, K and V."""
    layer = shape.layers[i]
    k_bytes = quants.row_bytes(request.cache_type_k, layer.k_values)
    if shape.is_mla:
        return k_bytes  # the latent row alone, no V
    v_values = layer.v_values
    if not flash_attn:
        widths = {other.v_values for other in shape.layers}
        if len(widths) > 1:  # every V row is padded to the widest layer
            v_values = max(widths)
    return k_bytes + quants.row_bytes(request.cache_type_v, v_values)


def _cache(
    shape: Shape,
    context: Context,
    request: LoadRequest,
    layers: list[int],
    cells: int,
    *,
    is_swa: bool,
) -> Cache:
    sizes = tuple(
        cell_bytes(shape, i, request, context.flash_attn) * cells * context.streams for i in layers
    )
    return Cache(cells, context.streams, is_swa, tuple(layers), sizes)
