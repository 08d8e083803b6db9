"""llama.cpp at the highest verbosity: weights that a device's buffer type refuses."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.TENSOR_REFUSED,
        keys=("cannot be used with preferred buffer type ",),
        # only devices: CPU_REPACK and pinned host memory refuse many, and it means little
        regex=re.compile(
            r"tensor '(?P<tensor>[^']+)' \((?P<type>\w+)\) \(and (?P<others>\d+) others\) cannot "
            r"be used with preferred buffer type (?P<preferred>(?!CPU|\w+_Host\b)\w+), using "
        ),
        types={"others": int},
        samples=(
            Sample(
                build="10434 (source, src/llama-model-loader.cpp; the form of b10434-vulkan-crash)",
                line="0.08.500.150 D done_getting_tensors: tensor 'blk.0.ffn_up.weight' (iq4_nl) "
                "(and 41 others) cannot be used with preferred buffer type Vulkan0, using CPU "
                "instead",
                values={
                    "tensor": "blk.0.ffn_up.weight",
                    "type": "iq4_nl",
                    "others": 41,
                    "preferred": "Vulkan0",
                },
            ),
        ),
    ),
)
