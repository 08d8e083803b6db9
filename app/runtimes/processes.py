"""Tells by its process which runtime a program belongs to, for live readings."""

import re

from app.core.host import ProcessInfo

# by the process's own name; all of these are programs that hold or run models
_BY_NAME = tuple(
    (title, re.compile(pattern, re.IGNORECASE))
    for title, pattern in (
        ("Ollama", r"ollama( app| runner|_llama_server)?(\.exe)?"),
        ("LM Studio", r"(lm[ -]?studio.*|llmster|lms)(\.exe)?"),
        ("KoboldCpp", r"koboldcpp.*"),
        ("Jan", r"jan(-linux.*)?(\.exe)?"),
        ("GPT4All", r"(gpt4all|chat)(\.exe)?"),
        ("Docker Model Runner", r"(com\.docker\.llama-server|model-runner)(\.exe)?"),
        ("llamafile", r".*\.?llamafile(\.exe)?"),
        ("vLLM", r"(vllm.*)"),
        ("SGLang", r"sglang.*"),
        ("llama.cpp", r"(llama|llama-[a-z0-9-]+|rpc-server|ggml-rpc-server)(\.exe)?"),
    )
)
# a llama-server that another program brought along lies in that program's folders
_BY_FOLDER = (
    ("Ollama", ("/ollama/",)),
    ("Jan", ("/jan/", "/ai.jan.jan/")),
    ("LM Studio", ("/.lmstudio/", "/lm-studio/", "/lm studio/")),
    ("text-generation-webui", ("/text-generation-webui/", "/llama_cpp_binaries/")),
    ("Docker Model Runner", ("/docker/",)),
)
_STARTERS = frozenset((
    "timeout", "nice", "env", "sh", "bash", "zsh", "fish", "dash", "sudo", "nohup", "time",
    "strace", "gdb", "taskset", "numactl", "systemd-run", "docker", "podman", "cmd", "powershell",
    "pwsh", "screen", "tmux", "watch",
))  # fmt: skip
_PYTHON = (
    ("vLLM", ("vllm",)),
    ("SGLang", ("sglang",)),
    ("MLX", ("mlx_lm",)),
    ("KoboldCpp", ("koboldcpp.py",)),
    ("llama.cpp", ("llama_cpp.server",)),
)


def title_of(process: ProcessInfo) -> str:
    """Return the runtime's title, with the program's name where it says more; "" for others."""
    name = process.name.removesuffix(".exe")
    exe = (process.exe or "").replace("\\", "/").lower()
    title = next((title for title, names in _BY_NAME if names.fullmatch(process.name)), "")
    if title == "llama.cpp":
        title = next((t for t, parts in _BY_FOLDER if any(p in exe for p in parts)), title)
        return f"{title}: {name}" if name.lower() != title.lower() else title
    if title:
        return title
    words = process.argv[1:4]
    line = " ".join(words).lower()
    if name.lower().startswith("python"):
        return next((t for t, parts in _PYTHON if any(part in line for part in parts)), "")
    return f"llama.cpp: {name}" if _loads_model(process) else ""


def _loads_model(process: ProcessInfo) -> bool:
    """Tell whether a program was told to load a GGUF file; those that start others do not count."""
    if process.name.lower().removesuffix(".exe") in _STARTERS:
        return False
    pairs = zip(process.argv, process.argv[1:], strict=False)
    return any(flag in ("-m", "--model") and v.lower().endswith(".gguf") for flag, v in pairs)
