"""MLX-LM, and MLX below it in other programs: rates, and memory that does not suffice."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, decimal_gb, first_by_last

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=(" tokens-per-sec",),
        regex=re.compile(r"(?P<program>Generation): \d+ tokens, [\d.]+ tokens-per-sec"),
        types={"program": always("MLX-LM")},
        samples=(
            Sample(
                build="mlx-lm 0.32.2 (source, mlx_lm/generate.py)",
                line="Generation: 100 tokens, 41.205 tokens-per-sec",
                values={"program": "MLX-LM"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_RATE,
        keys=(" tokens-per-sec",),
        regex=re.compile(
            r"Prompt: (?P<ms>(?P<n>\d+) tokens, (?P<tps>\d+(?:\.\d+)?)) tokens-per-sec"
        ),
        types={"ms": first_by_last, "n": int, "tps": float},
        samples=(
            Sample(
                build="mlx-lm 0.32.2 (source, mlx_lm/generate.py)",
                line="Prompt: 500 tokens, 250.000 tokens-per-sec",
                values={"ms": 2000.0, "n": 500, "tps": 250.0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=(" tokens-per-sec",),
        regex=re.compile(
            r"Generation: (?P<ms>(?P<n>\d+) tokens, (?P<tps>\d+(?:\.\d+)?)) tokens-per-sec"
        ),
        types={"ms": first_by_last, "n": int, "tps": float},
        samples=(
            Sample(
                build="mlx-lm 0.32.2 (source, mlx_lm/generate.py)",
                line="Generation: 100 tokens, 40.000 tokens-per-sec",
                values={"ms": 2500.0, "n": 100, "tps": 40.0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PEAK_MEMORY,
        keys=("Peak memory: ",),
        regex=re.compile(r"Peak memory: (?P<n_bytes>\d+(?:\.\d+)?) GB"),
        types={"n_bytes": decimal_gb},
        samples=(
            Sample(
                build="mlx-lm 0.32.2 (source, mlx_lm/generate.py)",
                line="Peak memory: 4.512 GB",
                values={"n_bytes": 4_512_000_000},
            ),
        ),
    ),
    Pattern(
        fact=Fact.MEMORY_PRESSURE,
        keys=("which is close to the maximum recommended size",),
        # its MB are 1048576 bytes
        regex=re.compile(
            r"Generating with a model that requires (?P<mib>\d+) MB which is close to the maximum "
            r"recommended size of (?P<limit_mib>\d+) MB"
        ),
        types={"mib": int, "limit_mib": int},
        samples=(
            Sample(
                build="mlx-lm 0.32.2 (source, mlx_lm/generate.py)",
                line="[WARNING] Generating with a model that requires 20850 MB which is close to "
                "the maximum recommended size of 21845 MB. This can be slow.",
                values={"mib": 20850, "limit_mib": 21845},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("[METAL] Command buffer execution failed", "[metal::malloc]"),
        regex=re.compile(r"(?P<engine>\[METAL\] Command buffer execution|\[metal::malloc\])"),
        types={"engine": always("MLX")},
        samples=(
            Sample(
                build="MLX 0.32",
                line="RuntimeError: [METAL] Command buffer execution failed: Caused GPU Timeout "
                "Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)",
                values={"engine": "MLX"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("greater than the maximum allowed buffer size",),
        regex=re.compile(
            r"Attempting to allocate (?P<n_bytes>\d+) bytes which is greater than the maximum "
            r"allowed buffer size of (?P<limit>\d+) bytes"
        ),
        types={"n_bytes": int, "limit": int},
        samples=(
            Sample(
                build="MLX 2024-05 (riccardomusmeci/mlx-llm issue 22)",
                line="libc++abi: terminating due to uncaught exception of type std::runtime_error: "
                "Attempting to allocate 19081554496 bytes which is greater than the maximum "
                "allowed buffer size of 17179869184 bytes.",
                values={"n_bytes": 19081554496, "limit": 17179869184},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_OTHER,
        keys=("[metal::malloc] Resource limit",),
        regex=re.compile(r"\[metal::malloc\] (?P<what>Resource limit \(\d+\) exceeded)"),
        samples=(
            Sample(
                build="MLX 0.32 (Blaizzy/mlx-vlm issue 1972)",
                line="RuntimeError: [metal::malloc] Resource limit (499000) exceeded",
                values={"what": "Resource limit (499000) exceeded"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CRASHED,
        keys=("terminating due to uncaught exception",),
        regex=re.compile(r"libc\+\+abi: terminating due to uncaught exception"),
        samples=(
            Sample(
                build="libc++",
                line="libc++abi: terminating due to uncaught exception of type "
                "std::runtime_error: [METAL] Command buffer execution failed",
            ),
        ),
    ),
)
