"""What to change after a load that found no memory, in the words of the runtime that ran it.

Sources: advice.md part 2 (each runtime's names for a setting) and part 3 row "Load failed:
memory"; Ollama docs/faq.md and envconfig/config.go (OLLAMA_GPU_OVERHEAD, in bytes).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """How one runtime names what may become smaller."""

    runtime: str
    layers: str  # what leaves the layers to the program, or fewer of them
    context: str
    compute: str  # what makes the compute buffer smaller, or leaves room for it


_ALL = (
    Words(
        "ollama",
        "Remove num_gpu, so that Ollama places the layers itself. If it fails without it, set "
        "num_gpu to fewer layers than the log shows on the GPU",
        "set a shorter num_ctx",
        "Leave more room on the card with OLLAMA_GPU_OVERHEAD (bytes): Ollama's own estimate was "
        "too low. Or set a smaller num_batch",
    ),
    Words(
        "lm-studio",
        "Lower GPU Offload by some layers",
        "set a shorter Context Length",
        "Set a smaller Evaluation Batch Size",
    ),
    Words(
        "koboldcpp",
        "Set GPU Layers (--gpulayers) to -1, so that KoboldCpp chooses, or to fewer",
        "set a shorter context (--contextsize)",
        "Set a smaller batch (--batchsize, in older versions --blasbatchsize)",
    ),
    Words(
        "text-generation-webui",
        "Set gpu-layers to fewer, or leave it automatic",
        "set a shorter ctx-size",
        "Set a smaller ubatch-size",
    ),
    Words(
        "jan",
        "Set GPU Layers to fewer, or leave them to Jan",
        "set a shorter Context Size",
        "Set a smaller uBatch Size",
    ),
    Words(
        "tabbyapi",
        "Set a shorter max_seq_len, and cache_size with it",
        "set cache_mode to Q8",
        "Set a smaller chunk_size",
    ),
)


def of_runtime(runtime: str, part: str) -> str:
    """Return the first change for weights, kv, compute or "" (unknown); "" = a llama.cpp load."""
    words = next((one for one in _ALL if one.runtime == runtime), None)
    if words is None:
        return ""
    context = words.context[0].upper() + words.context[1:]
    if part == "kv":
        return f"{context}: the KV cache grows with it."
    first = words.compute if part == "compute" else words.layers
    return f"{first}. If it fails as well, {words.context}, or take a smaller file."
