"""A vision projector (mmproj) beside a model: its weights and compute (tools/mtmd/clip.cpp, 11434).

From the source alone, no load was compared. The projector lies whole on the first GPU, its compute
buffer is that of the picture llama.cpp warms up with.
"""

from collections.abc import Mapping

from app.core.errors import UserError
from app.core.model import Model
from app.core.spans import Span

_F32 = 4
_ALIGNMENT = 128  # the largest of the backends'
# tokens of the warm-up picture where it is not the trained size (set_warmup_n_tokens)
_WARMUP_TOKENS: Mapping[str, int] = {
    "phi4": 256, "pixtral": 256, "lightonocr": 256, "kimivl": 256, "gemma4v": 256,
    "gemma4uv": 256, "minimax_m3": 256, "youtuvl": 256, "qwen2vl_merger": 2116,
    "qwen2.5vl_merger": 2116, "qwen3vl_merger": 2116, "ling3vl": 2116, "dots_ocr": 2116,
    "mimovl": 2116, "glm4v": 2116, "glm5v": 2116, "muse_glimmer": 1024,
}  # fmt: skip
_MERGED = 2  # patches per token and side where the header says nothing
_OFF_BY = 2  # the range: half to double


def check(model: Model) -> None:
    """Raise UserError for a file that is no projector."""
    if model.arch != "clip":
        raise UserError(
            f"{model.name} is no projector",
            f"Its architecture is {model.arch or 'not named'}; a projector's is clip.",
            "Give the mmproj file that belongs to the model.",
        )


def weights_bytes(model: Model) -> int:
    """Return the bytes of its tensors in one buffer."""
    return sum(-(-tensor.n_bytes // _ALIGNMENT) * _ALIGNMENT for tensor in model.tensors)


def compute_span(model: Model) -> Span | None:
    """Return the compute buffer for one picture; None without a vision part's sizes."""
    width = model.whole("vision.embedding_length") or 0
    inner = model.whole("vision.feed_forward_length") or 0
    patch = model.whole("vision.patch_size") or 0
    patches = _patches(model, patch)
    if not (width and inner and patches):
        return None
    # feed forward: its result, what goes in, the residual; attention: Q, K and V beside them
    block = max(inner + 3 * width, 6 * width)
    pixels = 3 * patch * patch  # of a patch, unfolded as F16
    n_bytes = patches * max(_F32 * block, 2 * pixels + 2 * _F32 * width)
    return Span(n_bytes, n_bytes // _OFF_BY, n_bytes * _OFF_BY)


def _patches(model: Model, patch: int) -> int:
    kind = model.text("clip.vision.projector_type") or model.text("clip.projector_type")
    tokens = _WARMUP_TOKENS.get(kind)
    if tokens is not None:
        merged = model.whole("vision.spatial_merge_size") or _MERGED
        return tokens * merged * merged
    side = model.whole("vision.image_size") or 0
    return (side // patch) ** 2 if patch else 0
