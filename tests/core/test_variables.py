"""Variables that change a runtime are kept; secrets, folders and addresses never are."""

from app.core.variables import that_matter

ENVIRONMENT = {
    "PATH": "/usr/bin",
    "HOME": "/home/u",
    "CUDA_VISIBLE_DEVICES": "1",
    "GGML_CUDA_ENABLE_UNIFIED_MEMORY": "1",
    "HSA_OVERRIDE_GFX_VERSION": "10.3.0",
    "OLLAMA_NUM_PARALLEL": "4",
    "OLLAMA_HOST": "10.0.0.7:11434",
    "OLLAMA_MODELS": "/home/u/models",
    "OLLAMA_API_KEY": "abc",
    "LLAMA_ARG_THREADS": "8",
    "LLAMA_ARG_HF_TOKEN": "hf_abc",
    "LLAMA_API_KEY": "abc",
    "GGML_NOTES": "x" * 300,
}


def test_keeps_what_changes_a_runtime_and_nothing_private() -> None:
    assert that_matter(ENVIRONMENT) == (
        ("CUDA_VISIBLE_DEVICES", "1"),
        ("GGML_CUDA_ENABLE_UNIFIED_MEMORY", "1"),
        ("HSA_OVERRIDE_GFX_VERSION", "10.3.0"),
        ("LLAMA_ARG_THREADS", "8"),
        ("OLLAMA_NUM_PARALLEL", "4"),
    )
