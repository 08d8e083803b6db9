"""llama.cpp of 2023: where the bytes were, before the buffer lines. Its MB are 1048576 bytes.

"VRAM used" is of the GPUs together; "mem required" is what is left in system memory.
"""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always

PATTERNS = (
    Pattern(
        fact=Fact.WEIGHTS_BUFFER,
        keys=(": VRAM used",),
        regex=re.compile(
            r"(?P<by>ll\w*_load_tensors|llama_model_load_internal): (?P<buffer>VRAM) used *[:=] +"
            r"(?P<mib>\d+(?:\.\d+)?) Mi?B"
        ),
        types={"mib": float},
        samples=(
            Sample(
                build="2023-11 (source, llama.cpp)",
                line="llm_load_tensors: VRAM used: 3521.56 MiB",
                values={"by": "llm_load_tensors", "buffer": "VRAM", "mib": 3521.56},
            ),
        ),
    ),
    Pattern(
        fact=Fact.WEIGHTS_BUFFER,
        keys=(": mem required ",),
        regex=re.compile(
            r"(?P<by>ll\w*_load_tensors|llama_model_load_internal): (?P<buffer>mem) required +="
            r" +(?P<mib>\d+(?:\.\d+)?) Mi?B"
        ),
        types={"mib": float, "buffer": always("CPU")},
        samples=(
            Sample(
                build="2023-09",
                line="llm_load_tensors: mem required  =   40.19 MB (+   12.00 MB per state)",
                values={"by": "llm_load_tensors", "buffer": "CPU", "mib": 40.19},
            ),
        ),
    ),
    Pattern(
        fact=Fact.WEIGHTS_BUFFER,
        keys=(": system memory used ",),
        regex=re.compile(
            r"(?P<by>llm_load_tensors): (?P<buffer>system memory) used +="
            r" +(?P<mib>\d+(?:\.\d+)?) MiB"
        ),
        types={"mib": float, "buffer": always("CPU")},
        samples=(
            Sample(
                build="2024-01 (mudler/LocalAI issue 1570)",
                line="llm_load_tensors: system memory used  = 8801.77 MiB",
                values={"by": "llm_load_tensors", "buffer": "CPU", "mib": 8801.77},
            ),
        ),
    ),
    Pattern(
        fact=Fact.KV_BUFFER,
        keys=(": VRAM kv self = ",),
        regex=re.compile(r"(?P<by>\w{1,64}): (?P<buffer>VRAM) kv self = (?P<mib>[\d.]+) Mi?B"),
        types={"mib": float},
        samples=(
            Sample(
                build="2023-11 (source, llama.cpp)",
                line="llama_kv_cache_init: VRAM kv self = 256.00 MiB",
                values={"by": "llama_kv_cache_init", "buffer": "VRAM", "mib": 256.0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.COMPUTE_BUFFER,
        keys=("compute buffer total size ",),
        regex=re.compile(
            r"(?P<by>\w{1,64}): (?P<buffer>compute) buffer total size += +(?P<mib>[\d.]+) Mi?B"
        ),
        types={"mib": float, "buffer": always("CPU")},
        samples=(
            Sample(
                build="2023-09",
                line="llama_new_context_with_model: compute buffer total size =   20.47 MB",
                values={"by": "llama_new_context_with_model", "buffer": "CPU", "mib": 20.47},
            ),
        ),
    ),
    Pattern(
        fact=Fact.BACKEND_LOADED,
        keys=(" for GPU acceleration",),
        regex=re.compile(r"using (?P<backend>\w+) for GPU acceleration"),
        samples=(
            Sample(
                build="2023-11 (source, llama.cpp)",
                line="llm_load_tensors: using CUDA for GPU acceleration",
                values={"backend": "CUDA"},
            ),
        ),
    ),
)
