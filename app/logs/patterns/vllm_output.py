"""vLLM: the load, what is left for the KV cache, and the rates of all requests together."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, grouped, size_to_mib

_BLOCK = 16  # tokens in one block of the first engine (V0), unless it is set


def _blocks(text: str) -> int:
    """Return the tokens of so many blocks."""
    return _BLOCK * int(text)


def _decimal(text: str) -> float:
    """Return MiB for GB, which vLLM computes with 2^30 bytes."""
    return float(text) * 1024


PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=(
            "(EngineCore",
            "(VllmWorker",
            "(Worker_TP",
            "(APIServer pid=",
            "GPU KV cache size: ",
            "# GPU blocks: ",
        ),
        regex=re.compile(
            r"(?P<program>\((?:EngineCore\w*|(?:Vllm)?Worker\w*|APIServer)(?: rank=\d+)? pid=\d+\)"
            r"|GPU KV cache size: [\d,]+ tokens|# GPU blocks: \d+, # CPU blocks: )"
        ),
        types={"program": always("vLLM")},
        samples=(
            Sample(
                build="vllm 2026 (SergiioB/intel-arc-pro-b70-inference-cookbook issue 4)",
                line="(EngineCore pid=316)     _check_enough_kv_cache_memory(",
                values={"program": "vLLM"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("Initializing an LLM engine", "Initializing a V1 LLM engine", "vLLM API server"),
        regex=re.compile(
            r"(?P<program>(?P<at>Initializing) an? (?:V1 )?LLM engine|vLLM API server)"
            r"(?:(?: version | \(v)(?P<version>\d[\w.]*))?"
        ),
        types={"program": always("vLLM"), "at": always("start")},
        samples=(
            Sample(
                build="vllm 2024-01 (case C35)",
                line="INFO 01-11 15:51:02 llm_engine.py:70] Initializing an LLM engine with "
                "config: model='<path>', quantization=None, enforce_eager=False, seed=0)",
                values={"program": "vLLM", "at": "start"},
            ),
            Sample(
                build="vllm 2025 (source, entrypoints/openai/api_server.py)",
                line="INFO 07-30 11:55:01 [api_server.py:1287] vLLM API server version 0.10.0",
                values={"program": "vLLM", "version": "0.10.0"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("[utils.py:",),
        regex=re.compile(r"(?P<program>\[utils\.py:\d+\]).* version (?P<version>\d[\w.+]*)\s*$"),
        types={"program": always("vLLM")},
        samples=(
            Sample(
                build="vllm 0.18.0 (vllm-project/vllm-gguf-plugin issue 101)",
                line="(APIServer pid=1) INFO 08-06 10:08:29 [utils.py:297]  ▄▄ ▄█ █     █  "
                "version 0.18.0",
                values={"program": "vLLM", "version": "0.18.0"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX_SLOT,
        keys=("Using max model len ",),
        regex=re.compile(r"Using max model len (?P<n>\d+)"),
        types={"n": int},
        samples=(
            Sample(
                build="vllm 0.18.0 (vllm-project/vllm-gguf-plugin issue 101)",
                line="(APIServer pid=1) INFO 08-06 10:08:41 [model.py:1582] Using max model len "
                "16384",
                values={"n": 16384},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOAD_START,
        keys=("LLM engine",),
        regex=re.compile(r"Initializing an? (?:V1 )?LLM engine .*?config: model='(?P<path>[^']+)'"),
        samples=(
            Sample(
                build="vllm 2024-01 (case C35)",
                line="INFO 01-11 15:51:02 llm_engine.py:70] Initializing an LLM engine with "
                "config: model='<path>', quantization=None, enforce_eager=False, seed=0)",
                values={"path": "<path>"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.WEIGHTS_BUFFER,
        keys=("Model loading took ", "Loading model weights took "),
        regex=re.compile(
            r"(?P<buffer>Model loading|Loading model weights) took (?P<mib>\d+(?:\.\d+)?) Gi?B"
        ),
        types={"mib": _decimal, "buffer": always("GPU")},
        samples=(
            Sample(
                build="vllm 2025 (source, v1/worker/gpu_model_runner.py)",
                line="INFO 07-30 11:55:40 [gpu_model_runner.py:1801] Model loading took 14.99 GiB "
                "and 5.114722 seconds",
                values={"buffer": "GPU", "mib": 14.99 * 1024},
            ),
        ),
    ),
    Pattern(
        fact=Fact.KV_BUFFER,
        keys=("Available KV cache memory: ",),
        regex=re.compile(r"(?P<buffer>Available KV cache) memory: (?P<mib>\d+(?:\.\d+)? GiB)"),
        types={"mib": size_to_mib, "buffer": always("GPU")},
        samples=(
            Sample(
                build="vllm 2025 (source, v1/worker/gpu_worker.py)",
                line="INFO 07-30 11:56:03 [gpu_worker.py:255] Available KV cache memory: 3.20 GiB",
                values={"buffer": "GPU", "mib": 3.2 * 1024},
            ),
        ),
    ),
    Pattern(
        fact=Fact.KV_CAPACITY,
        keys=("GPU KV cache size: ",),
        regex=re.compile(r"GPU KV cache size: (?P<n>[\d,]+) tokens"),
        types={"n": grouped},
        samples=(
            Sample(
                build="vllm 2026 (public log)",
                line="GPU KV cache size: 2,182,642 tokens, Maximum concurrency for 430,080 tokens "
                "per request: 5.07x",
                values={"n": 2182642},
            ),
        ),
    ),
    Pattern(
        fact=Fact.KV_CAPACITY,
        keys=("# GPU blocks: ",),
        regex=re.compile(r"# GPU blocks: (?P<n>\d+), # CPU blocks: \d+"),
        types={"n": _blocks},
        samples=(
            Sample(
                build="vllm 2024-01 (case C35)",
                line="INFO 01-11 15:51:18 llm_engine.py:275] # GPU blocks: 229, # CPU blocks: 512",
                values={"n": 3664},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("Avg prompt throughput: ",),
        regex=re.compile(
            r"(?P<kind>Avg prompt throughput): (?P<prompt_tps>[\d.]+) tokens/s, Avg generation "
            r"throughput: (?P<tps>[\d.]+) tokens/s, Running: (?P<running>\d+) reqs, "
            r"(?:Swapped: \d+ reqs, )?(?:Waiting|Pending): (?P<waiting>\d+) reqs, "
            r"GPU KV cache usage: (?P<used>[\d.]+)%"
        ),
        types={
            "kind": always("sum"),
            "prompt_tps": float,
            "tps": float,
            "running": int,
            "waiting": int,
            "used": float,
        },
        samples=(
            Sample(
                build="vllm 2025 (source, v1/metrics/loggers.py)",
                line="INFO 07-30 12:00:14 [loggers.py:123] Engine 000: Avg prompt throughput: "
                "102.4 tokens/s, Avg generation throughput: 88.1 tokens/s, Running: 4 reqs, "
                "Waiting: 2 reqs, GPU KV cache usage: 97.3%, Prefix cache hit rate: 12.0%",
                values={
                    "kind": "sum",
                    "prompt_tps": 102.4,
                    "tps": 88.1,
                    "running": 4,
                    "waiting": 2,
                    "used": 97.3,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADED,
        keys=("Application startup complete",),
        regex=re.compile(r"Application startup complete"),
        samples=(Sample(build="vllm 2025", line="INFO:     Application startup complete."),),
    ),
    Pattern(
        fact=Fact.ERROR_CONSEQUENCE,
        keys=("Engine core initialization failed", "EngineCore failed to start"),
        regex=re.compile(r"Engine core initialization failed|EngineCore failed to start"),
        samples=(
            Sample(
                build="vllm 2025 (source, v1/engine/core_client.py)",
                line="RuntimeError: Engine core initialization failed. See root cause above. "
                "Failed core proc(s): {}",
            ),
        ),
    ),
)
