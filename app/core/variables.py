"""Which variables of a runtime's environment matter, without those that are nobody's business."""

from collections.abc import Mapping

# each changes where or how a model is computed: llama.cpp docs/build.md and arg.cpp, build 11434;
# Ollama envconfig/config.go, v0.33; CUDA, ROCm and oneAPI manuals
_PREFIXES = (
    "GGML_", "LLAMA_ARG_", "OLLAMA_", "HSA_", "MESA_", "OMP_", "KMP_", "GOMP_", "VLLM_", "ZES_",
    "ONEAPI_", "SYCL_", "RADV_", "AMD_",
)  # fmt: skip
_NAMES = frozenset({
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING", "NVIDIA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF", "VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_LOADER_DRIVERS_DISABLE",
})  # fmt: skip
# addresses, folders and what a person typed say nothing about speed
_PRIVATE = frozenset({
    "OLLAMA_HOST", "OLLAMA_ORIGINS", "OLLAMA_MODELS", "OLLAMA_TMPDIR", "OLLAMA_RUNNERS_DIR",
    "OLLAMA_LIBRARY_PATH", "LLAMA_ARG_MODEL", "LLAMA_ARG_HOST", "LLAMA_ARG_ALIAS",
    "LLAMA_ARG_MODEL_URL", "LLAMA_ARG_STATIC_PATH", "LLAMA_ARG_CHAT_TEMPLATE_FILE",
})  # fmt: skip
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "AUTH", "COOKIE", "PROXY")
_LONGEST = 200
# those of a program that say which GPUs it may see, by vendor's word in a GPU's name
HIDING = {
    "nvidia": ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"),
    "amd": ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
}
NONE = ("", "-1", "none", "void", "nodevfiles")


def that_matter(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return names and values in order of their names; secrets, folders and addresses are out."""
    return tuple(
        (name, value)
        for name, value in sorted(environment.items())
        if _matters(name) and len(value) <= _LONGEST
    )


def _matters(name: str) -> bool:
    if name in _PRIVATE or any(word in name.upper() for word in _SECRET):
        return False
    return name in _NAMES or name.startswith(_PREFIXES)
