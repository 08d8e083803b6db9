"""llama-server of 2023-08 to 2024-09 and its relative ik_llama.cpp: lines that end in key=value.

As JSON they are read in the same form (app/logs/lines.py).
"""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.BUILD,
        keys=("build info |",),
        regex=re.compile(r'build info \|.*\bbuild=(?P<number>\d+) commit="?(?P<commit>\w+)'),
        types={"number": int},
        samples=(
            Sample(
                build="2024-09 (ggml-org/llama.cpp issue 9271)",
                line='INFO [                    main] build info | tid="0x36816201" '
                'timestamp=1725256043 build=3651 commit="8f1d81a0"',
                values={"number": 3651, "commit": "8f1d81a0"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX_SLOT,
        keys=("new slot |",),
        regex=re.compile(r"new slot \|.*\bn_ctx_slot=(?P<n>\d+)"),
        types={"n": int},
        samples=(
            Sample(
                build="ik_llama.cpp 2025-04 (its issue 305)",
                line='INFO [                    init] new slot | tid="140255828869120" '
                "timestamp=1743550245 id_slot=0 n_ctx_slot=8192",
                values={"n": 8192},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADED,
        keys=("model loaded |",),
        regex=re.compile(r"\bmodel loaded \|"),
        samples=(
            Sample(
                build="ik_llama.cpp 2025-04 (its issue 305)",
                line='INFO [                    main] model loaded | tid="140255828869120" '
                "timestamp=1743550245",
            ),
        ),
    ),
    Pattern(
        fact=Fact.REQUEST_START,
        keys=("slot is proc",),
        regex=re.compile(r"slot is processing task \|.*\b(?:id_task|task_id)=(?P<task>\d+)"),
        types={"task": int},
        samples=(
            Sample(
                build="ik_llama.cpp 2025-04 (its issue 305)",
                line='INFO [   launch_slot_with_task] slot is processing task | tid="1402" '
                "timestamp=1743550272 id_slot=0 id_task=7",
                values={"task": 7},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_CACHED,
        keys=("kv cache rm [p0, end) |",),
        regex=re.compile(r"kv cache rm \[p0, end\) \|.*\bp0=(?P<n>\d+)"),
        types={"n": int},
        samples=(
            Sample(
                build="ik_llama.cpp 2025-04 (its issue 305)",
                line='INFO [            update_slots] kv cache rm [p0, end) | tid="1402" '
                "timestamp=1743550273 id_slot=0 id_task=7 p0=31",
                values={"n": 31},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CONTEXT_TRUNCATED,
        keys=("input truncated |", "slot context shift |"),
        regex=re.compile(r"(?:input truncated|slot (?P<shift>context shift)) \|"),
        samples=(
            Sample(
                build="2024-05 (source, examples/server/server.cpp)",
                line='INFO [            update_slots] slot context shift | tid="1402" '
                "timestamp=1714000000 id_slot=0 id_task=7 n_keep=1 n_left=510 n_discard=255",
                values={"shift": "context shift"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.OVERRIDDEN,
        keys=("buffer type overriden to ",),
        # spelt so by llama.cpp of 2025-04 to 2025-06 and by ik_llama.cpp
        regex=re.compile(r"[Tt]ensor (?P<tensor>\S+) buffer type overriden to (?P<buffer>\S+)"),
        samples=(
            Sample(
                build="2025-02 (ggml-org/llama.cpp pull request 11397)",
                line="tensor blk.59.ffn_gate_exps.weight buffer type overriden to "
                "RPC[127.0.0.1:50053]",
                values={"tensor": "blk.59.ffn_gate_exps.weight", "buffer": "RPC[127.0.0.1:50053]"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CRASHED,
        keys=("GGML_ASSERT: ",),
        regex=re.compile(r"GGML_ASSERT: \S+:\d+: "),
        samples=(
            Sample(
                build="2023-12 (mozilla-ai/llamafile issue 42)",
                line="GGML_ASSERT: ggml-metal.m:1645: false",
            ),
        ),
    ),
)
