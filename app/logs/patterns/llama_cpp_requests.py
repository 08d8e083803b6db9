"""llama-server: how long a prompt is, what the cache held of it, and rates while it works."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always

PATTERNS = (
    Pattern(
        fact=Fact.PROMPT_SIZE,
        keys=("new prompt, n_ctx_slot = ",),
        regex=re.compile(
            r"new prompt, n_ctx_slot = \d+, n_keep = -?\d+, "
            r"(?:task\.n_tokens|n_prompt_tokens) = (?P<n>\d+)"
        ),
        types={"n": int},
        samples=(
            Sample(
                build="11434",
                line="0.08.180.511 I slot   operator(): id  3 | task 0 | new prompt, "
                "n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 17",
                values={"n": 17},
            ),
            Sample(
                build="4798",
                line="slot update_slots: id  0 | task 0 | new prompt, n_ctx_slot = 1024, "
                "n_keep = 0, n_prompt_tokens = 17",
                values={"n": 17},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_CACHED,
        keys=("memory_seq_rm [", "kv cache rm ["),
        regex=re.compile(r"(?:memory_seq_rm|kv cache rm) \[(?P<n>\d+), end\)"),
        types={"n": int},
        samples=(
            Sample(
                build="11434",
                line="0.08.180.539 I slot   operator(): id  3 | task 0 | cached n_tokens = 0, "
                "memory_seq_rm [0, end)",
                values={"n": 0},
            ),
            Sample(
                build="7079",
                line="slot update_slots: id  0 | task 0 | n_tokens = 0, memory_seq_rm [0, end)",
                values={"n": 0},
            ),
            Sample(
                build="4798",
                line="slot update_slots: id  0 | task 0 | kv cache rm [0, end)",
                values={"n": 0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("prompt processing, n_tokens = ",),
        regex=re.compile(
            r"prompt processing, n_tokens = +(?P<n>\d+), progress = (?P<progress>[\d.]+), "
            r"t = +[\d.]+ s / +(?P<prompt_tps>[\d.]+) (?P<kind>tokens per second)"
        ),
        types={"n": int, "progress": float, "prompt_tps": float, "kind": always("running")},
        samples=(
            Sample(
                build="11434 (source, tools/server/server-context.cpp)",
                line="slot   operator(): id  0 | task 0 | prompt processing, n_tokens =   2048, "
                "progress = 0.25, t =   4.10 s /   499.51 tokens per second",
                values={"n": 2048, "progress": 0.25, "prompt_tps": 499.51, "kind": "running"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("tg_3s = ",),
        regex=re.compile(
            r"n_gen = +(?P<n>\d+), tg = +(?P<tps>[\d.]+) t/s, "
            r"(?P<kind>tg_3s) = +(?P<recent_tps>[\d.]+)"
        ),
        types={"n": int, "tps": float, "recent_tps": float, "kind": always("running")},
        samples=(
            Sample(
                build="11434 (source, tools/server/server-context.cpp)",
                line="slot print_timing: id  0 | task 0 | n_gen =    200, tg =  31.20 t/s, "
                "tg_3s =  29.80 t/s",
                values={"n": 200, "tps": 31.2, "recent_tps": 29.8, "kind": "running"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=(" t/s | Generation: ",),
        regex=re.compile(
            r"\[ Prompt: (?P<prompt_tps>[\d.]+) t/s \| (?P<kind>Generation): (?P<tps>[\d.]+) t/s"
        ),
        types={"tps": float, "prompt_tps": float, "kind": always("uncounted")},
        samples=(
            Sample(
                build="11434 (source, tools/cli/cli.cpp)",
                line="[ Prompt: 81.4 t/s | Generation: 23.6 t/s ]",
                values={"prompt_tps": 81.4, "tps": 23.6, "kind": "uncounted"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_CACHED,
        keys=("Llama.generate: ",),
        regex=re.compile(r"Llama\.generate: (?:(?P<n>\d+) )?prefix-match hit"),
        types={"n": int},
        samples=(
            Sample(build="2023-06 (llama-cpp-python)", line="Llama.generate: prefix-match hit"),
            Sample(
                build="2024-09 (llama-cpp-python)",
                line="Llama.generate: 17 prefix-match hit, remaining 1 prompt tokens to eval",
                values={"n": 17},
            ),
        ),
    ),
)
