"""MLX-LM and TabbyAPI (ExLlama): their rates, and memory that does not suffice."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, decimal_gb, first_by_last

_TABBY = (
    "Metrics (ID: 3f2a): 200 tokens generated in 6.2 seconds (Queue: 0.0 s, Process: 1024 cached "
    "tokens and 512 new tokens at 812.4 T/s, Generate: 35.9 T/s, Context: 1536 tokens)"
)

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
        keys=("Metrics (ID: ",),
        regex=re.compile(r"(?P<program>Metrics) \(ID: \w+\): \d+ tokens generated in"),
        types={"program": always("TabbyAPI")},
        samples=(Sample(build="TabbyAPI 2025", line=_TABBY, values={"program": "TabbyAPI"}),),
    ),
    Pattern(
        fact=Fact.PROMPT_RATE,
        keys=("Metrics (ID: ",),
        regex=re.compile(
            r"cached tokens and (?P<ms>(?P<n>\d+) new tokens at (?P<tps>\d+(?:\.\d+)?)) T/s"
        ),
        types={"ms": first_by_last, "n": int, "tps": float},
        samples=(
            Sample(
                build="TabbyAPI 2025",
                line=_TABBY,
                values={"ms": 1000 * 512 / 812.4, "n": 512, "tps": 812.4},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROMPT_CACHED,
        keys=("Metrics (ID: ",),
        regex=re.compile(r"Process: (?P<n>\d+) cached tokens and"),
        types={"n": int},
        samples=(Sample(build="TabbyAPI 2025", line=_TABBY, values={"n": 1024}),),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=("Metrics (ID: ",),
        regex=re.compile(
            r": (?P<ms>(?P<n>\d+) tokens generated in .{1,160}?Generate: (?P<tps>\d+(?:\.\d+)?))"
            r" T/s"
        ),
        types={"ms": first_by_last, "n": int, "tps": float},
        samples=(
            Sample(
                build="TabbyAPI 2025",
                line=_TABBY,
                values={"ms": 200_000 / 35.9, "n": 200, "tps": 35.9},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("Insufficient VRAM for model and cache", "Insufficient space in device allocation"),
        regex=re.compile(
            r"Insufficient VRAM for model and cache|Insufficient space in device allocation"
        ),
        samples=(
            Sample(
                build="ExLlamaV2 (public report)",
                line="RuntimeError: Insufficient VRAM for model and cache",
            ),
        ),
    ),
)
