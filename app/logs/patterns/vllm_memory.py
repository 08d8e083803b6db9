"""vLLM: the ways in which its memory does not suffice at start, and eager mode."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import grouped

PATTERNS = (
    Pattern(
        fact=Fact.VLLM_MEMORY,
        keys=("tokens that can be stored in KV cache",),
        regex=re.compile(
            r"max seq len \((?P<asked>[\d,]+)\) is (?P<kind>larger) than the maximum number of "
            r"tokens that can be stored in KV cache \((?P<stored>[\d,]+)\)"
        ),
        types={"asked": grouped, "stored": grouped, "kind": lambda _text: "length"},
        may_break=True,
        samples=(
            Sample(
                build="vllm 2024-01",
                line="ValueError: The model's max seq len (4096) is larger than the maximum number "
                "of tokens that can be stored in KV cache (3664). Try increasing "
                "`gpu_memory_utilization` or decreasing `max_model_len` when",
                values={"asked": 4096, "kind": "length", "stored": 3664},
            ),
        ),
    ),
    Pattern(
        fact=Fact.VLLM_MEMORY,
        keys=("To serve at least one request", "the estimated maximum model length is "),
        regex=re.compile(
            r"max seq len \((?P<asked>[\d,]+)\).* is (?P<kind>larger) than the available KV cache "
            r"memory.*estimated maximum model length is (?P<stored>[\d,]+)"
        ),
        types={"asked": grouped, "stored": grouped, "kind": lambda _text: "length"},
        may_break=True,
        samples=(
            Sample(
                build="vllm 2025 (source, v1/core/kv_cache_utils.py)",
                line="ValueError: To serve at least one request with the models's max seq len "
                "(40960), (5.00 GiB KV cache is needed, which is larger than the available KV "
                "cache memory (3.20 GiB). Based on the available memory, the estimated maximum "
                "model length is 26208.",
                values={"asked": 40960, "kind": "length", "stored": 26208},
            ),
        ),
    ),
    Pattern(
        fact=Fact.VLLM_MEMORY,
        keys=("No available memory for the cache blocks",),
        regex=re.compile(r"(?P<kind>No available memory for the cache blocks)"),
        types={"kind": lambda _text: "no-space"},
        samples=(
            Sample(
                build="vllm 2025 (source, v1/core/kv_cache_utils.py)",
                line="ValueError: No available memory for the cache blocks. Try increasing "
                "`gpu_memory_utilization` when initializing the engine.",
                values={"kind": "no-space"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.VLLM_MEMORY,
        keys=("the rest of the memory reserved for KV Cache is -",),
        regex=re.compile(r"memory reserved for (?P<kind>KV Cache) is -\d"),
        types={"kind": lambda _text: "no-space"},
        samples=(
            Sample(
                build="vllm 2025-02 (vllm-project/vllm issue 13882)",
                line="INFO 02-26 09:54:05 worker.py:267] model weights take 5.20GiB; "
                "non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes 1.42GiB; "
                "the rest of the memory reserved for KV Cache is -1.05GiB.",
                values={"kind": "no-space"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.VLLM_MEMORY,
        keys=("Free memory on device", "is less than desired GPU memory utilization"),
        regex=re.compile(
            r"Free memory on device.* \((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup is "
            r"(?P<kind>less) than desired GPU memory utilization \((?P<share>[\d.]+)"
        ),
        types={"free": float, "total": float, "share": float, "kind": lambda _text: "utilisation"},
        may_break=True,
        samples=(
            Sample(
                build="vllm 2025 (source, v1/worker/gpu_worker.py)",
                line="ValueError: Free memory on device (3.20/23.99 GiB) on startup is less than "
                "desired GPU memory utilization (0.9, 21.59 GiB). Decrease GPU memory utilization "
                "or reduce GPU memory used by other processes.",
                values={"free": 3.2, "total": 23.99, "kind": "utilisation", "share": 0.9},
            ),
        ),
    ),
    Pattern(
        fact=Fact.VLLM_EAGER,
        keys=("enforce_eager=",),
        regex=re.compile(r"enforce_eager=(?P<state>True|False)"),
        samples=(
            Sample(
                build="vllm 2024-01",
                line="INFO 01-11 15:51:02 llm_engine.py:70] Initializing an LLM engine with "
                "config: model='<path>', quantization=None, enforce_eager=False, seed=0)",
                values={"state": "False"},
            ),
        ),
    ),
)
