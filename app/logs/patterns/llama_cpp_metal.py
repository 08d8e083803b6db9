"""llama.cpp on Apple's GPUs: buffers of 2023, and commands that the GPU did not finish."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always


def _added(fact: Fact, what: str, sample: Sample) -> Pattern:
    """Make the pattern of a buffer that Metal was given in 2023, when it had no buffer lines."""
    return Pattern(
        fact=fact,
        keys=(f"ggml_metal_add_buffer: allocated '{what}",),
        regex=re.compile(
            rf"(?P<by>ggml_metal_add_buffer): allocated '(?P<buffer>{what}) *' buffer, "
            r"size = +(?P<mib>\d+(?:\.\d+)?) Mi?B"
        ),
        types={"mib": float, "buffer": always("Metal")},
        samples=(sample,),
    )


PATTERNS = (
    _added(
        Fact.WEIGHTS_BUFFER,
        "data",
        Sample(
            build="2023-12 (ggml-org/llama.cpp issue 4495)",
            line="ggml_metal_add_buffer: allocated 'data            ' buffer, size =  8192.00 MiB, "
            "offs =            0",
            values={"by": "ggml_metal_add_buffer", "buffer": "Metal", "mib": 8192.0},
        ),
    ),
    _added(
        Fact.KV_BUFFER,
        "kv",
        Sample(
            build="2023-12 (source, ggml-metal.m)",
            line="ggml_metal_add_buffer: allocated 'kv              ' buffer, size =    66.02 MiB, "
            "(19692.78 / 10922.67)",
            values={"by": "ggml_metal_add_buffer", "buffer": "Metal", "mib": 66.02},
        ),
    ),
    _added(
        Fact.COMPUTE_BUFFER,
        "alloc",
        Sample(
            build="2023-12 (source, ggml-metal.m)",
            line="ggml_metal_add_buffer: allocated 'alloc           ' buffer, size =   114.53 MiB, "
            "(19807.31 / 10922.67)",
            values={"by": "ggml_metal_add_buffer", "buffer": "Metal", "mib": 114.53},
        ),
    ),
    Pattern(
        fact=Fact.ERROR_OTHER,
        keys=("failed with status 5",),
        # MTLCommandBufferStatusError; since 2024 the next line says why
        regex=re.compile(r"(?P<what>command buffer \d+ failed with status 5)"),
        samples=(
            Sample(
                build="2024-03 (ggml-org/llama.cpp issue 6114)",
                line="ggml_metal_graph_compute: command buffer 0 failed with status 5",
                values={"what": "command buffer 0 failed with status 5"},
            ),
        ),
    ),
)
