"""llama.cpp: what is asked of the devices. The buffer lines say what happened."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.OFFLOADING_REPEATING,
        keys=("repeating layers to GPU",),
        regex=re.compile(r"offloading (?P<n>\d+) repeating layers to GPU"),
        types={"n": int},
        samples=(
            Sample(
                build="10434",
                line="0.08.679.226 I load_tensors: offloading 17 repeating layers to GPU",
                values={"n": 17},
            ),
        ),
    ),
    Pattern(
        fact=Fact.OFFLOADING_OUTPUT,
        keys=("offloading output layer to GPU", "offloading non-repeating layers to GPU"),
        regex=re.compile(r"offloading (?:output layer|non-repeating layers) to GPU"),
        samples=(
            Sample(
                build="10434", line="0.08.668.270 I load_tensors: offloading output layer to GPU"
            ),
            Sample(build="3889", line="llm_load_tensors: offloading non-repeating layers to GPU"),
        ),
    ),
    Pattern(
        fact=Fact.OFFLOADED,
        keys=("layers to GPU",),
        regex=re.compile(r"offloaded (?P<n>\d+)/(?P<m>\d+) layers to GPU"),
        types={"n": int, "m": int},
        samples=(
            Sample(
                build="11434",
                line="0.00.038.507 I load_tensors: offloaded 6/13 layers to GPU",
                values={"n": 6, "m": 13},
            ),
        ),
    ),
    Pattern(
        fact=Fact.OVERRIDDEN,
        keys=("buffer type overridden to ",),
        regex=re.compile(r"tensor (?P<tensor>\S+) .*?buffer type overridden to (?P<buffer>\S+)"),
        samples=(
            Sample(
                build="11434 (source, src/llama-model-loader.cpp)",
                line="tensor blk.0.ffn_up_exps.weight (48 MiB q4_K) buffer type overridden to CPU",
                values={"tensor": "blk.0.ffn_up_exps.weight", "buffer": "CPU"},
            ),
        ),
    ),
)
