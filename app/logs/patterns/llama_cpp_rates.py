"""llama.cpp: the two rates of a request, and what happens to its context."""

import re

from app.core.log import Fact, Pattern, Sample

_RATE = {"ms": float, "n": int, "tps": float}

PATTERNS = (
    Pattern(
        fact=Fact.PROMPT_RATE,
        keys=("prompt eval time ",),
        regex=re.compile(
            r"prompt eval time += +(?P<ms>[\d.]+) ms / +(?P<n>\d+) tokens "
            r"\( *[\d.]+ ms per token, +(?P<tps>[\d.]+) tokens per second\)"
        ),
        types=_RATE,
        samples=(
            Sample(
                build="11434",
                line="0.30.000.000 I slot print_timing: id  3 | task 0 | prompt eval time =      "
                "73.67 ms /     6 tokens (   12.28 ms per token,    81.44 tokens per second)",
                values={"ms": 73.67, "n": 6, "tps": 81.44},
            ),
            Sample(
                build="2023-09",
                line="llama_print_timings: prompt eval time =    99.46 ms /    17 tokens "
                "(    5.85 ms per token,   170.92 tokens per second)",
                values={"ms": 99.46, "n": 17, "tps": 170.92},
            ),
            Sample(
                build="2024-05 (source, examples/server/server.cpp)",
                line="prompt eval time     =     111.62 ms /    14 tokens (    7.97 ms per token, "
                "  125.42 tokens per second)",
                values={"ms": 111.62, "n": 14, "tps": 125.42},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=("eval time = ",),
        regex=re.compile(
            r"(?<!prompt )\beval time = +(?P<ms>[\d.]+) ms / +(?P<n>\d+) (?P<unit>runs|tokens) "
            r"+\( *[\d.]+ ms per token, +(?P<tps>[\d.]+) tokens per second\)"
        ),
        types=_RATE,
        samples=(
            Sample(
                build="11434",
                line="slot print_timing: id  3 | task 0 |        eval time =     465.23 ms /    "
                "12 tokens (   42.29 ms per token,    23.64 tokens per second)",
                values={"ms": 465.23, "n": 12, "unit": "tokens", "tps": 23.64},
            ),
            Sample(
                build="2023-09",
                line="llama_print_timings:        eval time =    41.61 ms /     3 runs   "
                "(   13.87 ms per token,    72.09 tokens per second)",
                values={"ms": 41.61, "n": 3, "unit": "runs", "tps": 72.09},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DRAFT_ACCEPTANCE,
        keys=("draft acceptance",),
        regex=re.compile(
            r"draft acceptance(?: rate)? = +(?P<rate>[\d.]+) "
            r"\( *(?P<accepted>\d+) accepted / +(?P<generated>\d+) generated\)"
        ),
        types={"rate": float, "accepted": int, "generated": int},
        samples=(
            Sample(
                build="11434 (source, tools/server/server-context.cpp)",
                line="slot print_timing: id  0 | task 0 | draft acceptance = 0.61538 "
                "(   24 accepted /    39 generated), mean len = 2.6",
                values={"rate": 0.61538, "accepted": 24, "generated": 39},
            ),
        ),
    ),
    Pattern(
        fact=Fact.REQUEST_START,
        keys=("launch_slot_",),
        regex=re.compile(r"launch_slot_\w*: id +\d+ \| task (?P<task>\d+) \| processing task"),
        types={"task": int},
        samples=(
            Sample(
                build="11434",
                line="0.30.080.166 I slot launch_slot_: id  3 | task 0 | processing task, "
                "is_child = 0",
                values={"task": 0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CONTEXT_TRUNCATED,
        keys=("truncated = 1",),
        regex=re.compile(r"stop processing: n_(?:tokens|past) = (?P<n>\d+), truncated = 1"),
        types={"n": int},
        samples=(
            Sample(
                build="11434",
                line="slot      release: id  3 | task 0 | stop processing: n_tokens = 256, "
                "truncated = 1",
                values={"n": 256},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CONTEXT_TRUNCATED,
        keys=("slot context shift", "input truncated, n_ctx = ", "running out of context capacity"),
        regex=re.compile(
            r"slot context (?P<shift>shift), n_keep = |input truncated, n_ctx = "
            r"|stopped due to running out of context capacity"
        ),
        samples=(
            Sample(
                build="11434 (source, tools/server/server-context.cpp)",
                line="slot update_slots: id  0 | task 0 | slot context shift, n_keep = 0, "
                "n_left = 255, n_discard = 127",
                values={"shift": "shift"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.REQUEST_TOO_LONG,
        keys=("exceeds the available context size",),
        regex=re.compile(
            r"request (?:\((?P<n>\d+) tokens\) )?exceeds the available context size"
            r"(?: \((?P<n_ctx>\d+) tokens\))?"
        ),
        types={"n": int, "n_ctx": int},
        samples=(
            Sample(
                build="11434 (source, tools/server/server-context.cpp)",
                line="srv    send_error: task id = 0, error: request (1982 tokens) exceeds the "
                "available context size (512 tokens), try increasing it",
                values={"n": 1982, "n_ctx": 512},
            ),
        ),
    ),
    Pattern(
        fact=Fact.KV_POOL_FULL,
        keys=("failed to find free space in the KV cache",),
        regex=re.compile(r"failed to find free space in the KV cache"),
        samples=(
            Sample(
                build="11434 (source, tools/server/server-context.cpp)",
                line="srv  update_slots: failed to find free space in the KV cache, retrying with "
                "smaller batch size, off = 0, n_batch = 256, ret = 1",
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_REPROCESSED,
        keys=("forcing full prompt re-processing",),
        regex=re.compile(r"forcing full prompt re-processing due to lack of cache data"),
        samples=(
            Sample(
                build="11434 (source, tools/server/server-context.cpp)",
                line="slot   operator(): id  0 | task 15 | forcing full prompt re-processing due "
                "to lack of cache data (likely due to SWA or hybrid/recurrent memory)",
            ),
        ),
    ),
)
