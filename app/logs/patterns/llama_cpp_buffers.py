"""llama.cpp: the buffer lines. They say where the bytes really are, so they beat all claims.

A buffer's name may hold spaces, commas and brackets: it is matched up to the kind word.
"""

import re

from app.core.log import Fact, Pattern, Sample

_NAME = r"\b(?P<by>\w{1,64}): +(?P<buffer>\S(?:(?!: ).)*?) {1,2}"
_SIZE = r"buffer size += +(?P<mib>\d+(?:\.\d+)?) MiB"


def _buffer(fact: Fact, kind: str, *samples: Sample) -> Pattern:
    return Pattern(
        fact=fact,
        keys=(f"{kind} buffer size ",),
        regex=re.compile(f"{_NAME}{kind} {_SIZE}"),
        types={"mib": float},
        samples=samples,
    )


PATTERNS = (
    _buffer(
        Fact.WEIGHTS_BUFFER,
        "model",
        Sample(
            build="11434",
            line="load_tensors: RPC0[127.0.0.1:52241] model buffer size =    17.09 MiB",
            values={"by": "load_tensors", "buffer": "RPC0[127.0.0.1:52241]", "mib": 17.09},
        ),
        Sample(
            build="10434",
            line="0.08.679.240 I load_tensors:   CPU_Mapped model buffer size =   170.00 MiB",
            values={"by": "load_tensors", "buffer": "CPU_Mapped", "mib": 170.0},
        ),
    ),
    Pattern(
        fact=Fact.WEIGHTS_BUFFER,  # the word "model" came with 2024-12
        keys=("llm_load_tensors: ",),
        regex=re.compile(
            rf"(?P<by>llm_load_tensors): +(?P<buffer>\S(?:(?!: | model ).)*?) {_SIZE}"
        ),
        types={"mib": float},
        samples=(
            Sample(
                build="3889",
                line="llm_load_tensors: llvmpipe (LLVM 15.0.6, 256 bits) "
                "buffer size =    38.03 MiB",
                values={
                    "by": "llm_load_tensors",
                    "buffer": "llvmpipe (LLVM 15.0.6, 256 bits)",
                    "mib": 38.03,
                },
            ),
            Sample(
                build="2024-02",
                line="llm_load_tensors:        CPU buffer size =    40.16 MiB",
                values={"by": "llm_load_tensors", "buffer": "CPU", "mib": 40.16},
            ),
        ),
    ),
    _buffer(
        Fact.KV_BUFFER,
        "KV",
        Sample(
            build="10434",
            line="0.09.800.000 I llama_kv_cache:    Vulkan0 KV buffer size =    12.00 MiB",
            values={"by": "llama_kv_cache", "buffer": "Vulkan0", "mib": 12.0},
        ),
        Sample(
            build="3889",
            line="llama_kv_cache_init: llvmpipe (LLVM 15.0.6, 256 bits) "
            "KV buffer size =    12.00 MiB",
            values={
                "by": "llama_kv_cache_init",
                "buffer": "llvmpipe (LLVM 15.0.6, 256 bits)",
                "mib": 12.0,
            },
        ),
    ),
    _buffer(
        Fact.RS_BUFFER,
        "RS",
        Sample(
            build="11434 (source, src/llama-memory-recurrent.cpp)",
            line="llama_memory_recurrent:      CUDA0 RS buffer size =    62.81 MiB",
            values={"by": "llama_memory_recurrent", "buffer": "CUDA0", "mib": 62.81},
        ),
    ),
    _buffer(
        Fact.COMPUTE_BUFFER,
        "compute",
        Sample(
            build="10434",
            line="0.09.900.000 I sched_reserve: Vulkan_Host compute buffer size =     9.02 MiB",
            values={"by": "sched_reserve", "buffer": "Vulkan_Host", "mib": 9.02},
        ),
    ),
    _buffer(
        Fact.OUTPUT_BUFFER,
        "output",
        Sample(
            build="11434",
            line="0.00.038.798 I llama_context:        CPU  output buffer size =     0.06 MiB",
            values={"by": "llama_context", "buffer": "CPU", "mib": 0.06},
        ),
        Sample(
            build="LM Studio 0.3.9 (lmstudio-bug-tracker issue 297)",
            line="2025-02-17 11:35:36 [DEBUG] llama_init_from_model: CUDA_Host output buffer "
            "size = 0.58 MiB",
            values={"by": "llama_init_from_model", "buffer": "CUDA_Host", "mib": 0.58},
        ),
    ),
    Pattern(
        fact=Fact.KV_SIZE,
        keys=(" cells, ",),
        regex=re.compile(
            r": size = +(?P<mib>[\d.]+) MiB \( *(?P<cells>\d+) cells, +(?P<layers>\d+) layers,"
            r".*?K \((?P<type_k>\w+)\):.*?V \((?P<type_v>\w+)\):"
        ),
        types={"mib": float, "cells": int, "layers": int},
        samples=(
            Sample(
                build="11434",
                line="llama_kv_cache: size =    6.38 MiB (  4096 cells,   3 layers,  4/1 seqs), "
                "K (q8_0):    3.19 MiB, V (q8_0):    3.19 MiB",
                values={
                    "mib": 6.38,
                    "cells": 4096,
                    "layers": 3,
                    "type_k": "q8_0",
                    "type_v": "q8_0",
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.KV_SIZE,  # to 2025-05; without types to 2023-11, when MB meant MiB
        keys=("KV self size ", "kv self size "),
        regex=re.compile(
            r"(?:KV|kv) self size += +(?P<mib>[\d.]+) Mi?B"
            r"(?:, K \((?P<type_k>\w+)\):.*?V \((?P<type_v>\w+)\):)?"
        ),
        types={"mib": float},
        samples=(
            Sample(
                build="4798",
                line="llama_init_from_model: KV self size  =   12.00 MiB, "
                "K (f16):    6.00 MiB, V (f16):    6.00 MiB",
                values={"mib": 12.0, "type_k": "f16", "type_v": "f16"},
            ),
            Sample(
                build="2023-09",
                line="llama_new_context_with_model: kv self size  =   12.00 MB",
                values={"mib": 12.0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GRAPH_SPLITS,
        keys=("graph splits = ", ", splits = "),
        regex=re.compile(r"(?:graph splits =|, splits =) +(?P<n>\d+)"),
        types={"n": int},
        samples=(
            Sample(build="10434", line="sched_reserve: graph splits = 3", values={"n": 3}),
            Sample(
                build="11434",
                line="sched_reserve: graph: nodes = 381, splits = 1, input objects = 4, "
                "input tensors = 9",
                values={"n": 1},
            ),
        ),
    ),
    Pattern(
        fact=Fact.SECOND_CONTEXT,
        keys=("creating MTP draft context",),
        regex=re.compile(r"creating MTP draft context against the target model"),
        samples=(
            Sample(
                build="11434 (source, common/speculative.cpp)",
                line="common_speculative_init_result: creating MTP draft context against "
                "the target model '/models/m.gguf'",
            ),
        ),
    ),
)
