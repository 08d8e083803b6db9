"""llama.cpp of 2023 and llama-speculative: rates without tokens per second, and its summary."""

import re
from collections.abc import Callable, Mapping

from app.core.log import Fact, Pattern, Sample, Value
from app.logs.figures import per_second, share

_RATE: Mapping[str, Callable[[str], Value]] = {"ms": float, "n": int, "tps": per_second}

PATTERNS = (
    Pattern(
        fact=Fact.PROMPT_RATE,
        keys=("llama_print_timings: prompt eval time = ",),
        regex=re.compile(
            r"llama_print_timings: prompt eval time = +(?P<ms>[\d.]+) ms / +(?P<n>\d+) tokens "
            r"\( *(?P<tps>[\d.]+) ms per token\)"
        ),
        types=_RATE,
        samples=(
            Sample(
                build="2023-06 (llama-cpp-python 0.1.57)",
                line="llama_print_timings: prompt eval time = 146712.89 ms /  1294 tokens "
                "(  113.38 ms per token)",
                values={"ms": 146712.89, "n": 1294, "tps": 1000 / 113.38},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GENERATION_RATE,
        keys=("llama_print_timings:        eval time = ",),
        regex=re.compile(
            r"llama_print_timings: {8}eval time = +(?P<ms>[\d.]+) ms / +(?P<n>\d+) (?P<unit>runs) "
            r" *\( *(?P<tps>[\d.]+) ms per token\)"
        ),
        types=_RATE,
        samples=(
            Sample(
                build="2023-06 (llama-cpp-python 0.1.57)",
                line="llama_print_timings:        eval time = 15896.38 ms /    64 runs   "
                "(  248.38 ms per token)",
                values={"ms": 15896.38, "n": 64, "unit": "runs", "tps": 1000 / 248.38},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DRAFT_MAX,
        keys=("n_draft   = ",),
        regex=re.compile(r"^n_draft   = (?P<n>\d+)$"),
        types={"n": int},
        samples=(
            Sample(build="2024-11 (llama-speculative)", line="n_draft   = 16", values={"n": 16}),
        ),
    ),
    Pattern(
        fact=Fact.DRAFT_ACCEPTANCE,
        keys=("accept    = ",),
        regex=re.compile(r"^accept    = (?P<rate>[\d.]+)%$"),
        types={"rate": share},
        samples=(
            Sample(
                build="2024-11 (llama-speculative)",
                line="accept    = 34.320%",
                values={"rate": 0.3432},
            ),
        ),
    ),
)
