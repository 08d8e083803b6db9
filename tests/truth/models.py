"""The models of the truth file by architecture."""

from collections.abc import Callable, Mapping

from app.core.model import Model
from tests.truth import recurrents, relatives, transformers
from tests.truth.builder import Builder
from tests.truth.params import Params

_ARCHITECTURES: Mapping[str, Callable[[Builder, Params], None]] = {
    "llama": transformers.llama,
    "qwen2": transformers.llama,
    "qwen3": transformers.llama,
    "qwen3moe": transformers.llama,
    "phi3": transformers.phi3,
    "gemma3": transformers.gemma3,
    "gemma3n": transformers.gemma3n,
    "gemma4": transformers.gemma4,
    "deepseek2": transformers.deepseek2,
    "gpt-oss": transformers.gpt_oss,
    "qwen3next": recurrents.delta_net,
    "qwen35": recurrents.delta_net,
    "qwen35moe": recurrents.delta_net,
    "granitehybrid": recurrents.granite_hybrid,
    "nemotron_h": recurrents.nemotron_h,
    "lfm2": recurrents.lfm2,
    "mamba": recurrents.mamba,
    "falcon-h1": recurrents.falcon_h1,
    "jamba": recurrents.jamba,
    **dict.fromkeys(relatives.LAYOUTS, relatives.relative),
}
QWEN3_235B = Params(
    L=94, e=4096, f=12288, h=64, hk=4, dk=128, v=151936, ctx=40960, nx=128, nu=8, fx=1536
)  # fmt: skip
LLAMA_8B = Params(L=32, e=4096, f=14336, h=32, hk=8, v=128256, ctx=131072, rope_freqs=1)


def build(name: str, arch: str, recipe: str, params: Params) -> Model:
    """Return a model with the keys and tensors of its header."""
    builder = Builder(name, arch, recipe)
    _ARCHITECTURES[arch](builder, params)
    return builder.model()
