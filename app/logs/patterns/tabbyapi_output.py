"""TabbyAPI and ExLlama below it: their rates, their context, memory that does not suffice."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, first_by_last, share

_TABBY = (
    "Metrics (ID: 3f2a): 200 tokens generated in 6.2 seconds (Queue: 0.0 s, Process: 1024 cached "
    "tokens and 512 new tokens at 812.4 T/s, Generate: 35.9 T/s, Context: 1536 tokens)"
)


def _engine(text: str) -> str:
    """Return the engine's name and version."""
    return text.replace(" version: ", " ")


PATTERNS = (
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
        may_break=True,
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
        may_break=True,
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
        may_break=True,
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
        keys=("Insufficient VRAM ", "Insufficient space in device allocation"),
        regex=re.compile(
            r"Insufficient VRAM (?:in split )?for model and cache"
            r"|Insufficient space in device allocation"
        ),
        samples=(
            Sample(
                build="ExLlamaV2 (public report)",
                line="RuntimeError: Insufficient VRAM for model and cache",
            ),
            Sample(
                build="ExLlamaV3 1.4.9 (theroyallab/tabbyAPI issue 475)",
                line="RuntimeError: Insufficient VRAM in split for model and cache",
            ),
        ),
    ),
    Pattern(
        fact=Fact.DRAFT_ACCEPTANCE,
        keys=("Metrics (ID: ",),
        regex=re.compile(
            r"Metrics \(ID: .*Draft: (?P<accepted>\d+) / (?P<generated>\d+) tokens accepted "
            r"\((?P<rate>[\d.]+)%"
        ),
        may_break=True,
        types={"accepted": int, "generated": int, "rate": share},
        samples=(
            Sample(
                build="TabbyAPI 2026-09 (theroyallab/tabbyAPI pull request 469)",
                line=_TABBY[:-1] + ", Draft: 3 / 4 tokens accepted (75.00%))",
                values={"accepted": 3, "generated": 4, "rate": 0.75},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("exllamav3 version: ", "ExllamaV2 version: ", "Starting TabbyAPI on "),
        regex=re.compile(
            r"(?P<program>(?:(?P<engine>(?:exllamav3|ExllamaV2) version: \S+)"
            r"|Starting TabbyAPI on ))"
        ),
        types={"program": always("TabbyAPI"), "engine": _engine},
        samples=(
            Sample(
                build="TabbyAPI 2026-09 (turboderp-org/exllamav3 issue 313)",
                line="2026-09-01 09:39:58.340 INFO:     exllamav3 version: 1.4.5",
                values={"program": "TabbyAPI", "engine": "exllamav3 1.4.5"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX,
        keys=("Using configured cache_size: ",),
        regex=re.compile(r"Using configured cache_size: (?P<n>\d+) tokens"),
        types={"n": int},
        samples=(
            Sample(
                build="TabbyAPI 2026-09 (turboderp-org/exllamav3 issue 313)",
                line="2026-09-01 09:39:58.947 INFO:     Using configured cache_size: 145408 "
                "tokens.",
                values={"n": 145408},
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX_SLOT,
        keys=("Using configured max_seq_len: ",),
        regex=re.compile(r"Using configured max_seq_len: (?P<n>\d+) tokens"),
        types={"n": int},
        samples=(
            Sample(
                build="TabbyAPI 2026-09 (turboderp-org/exllamav3 issue 313)",
                line="2026-09-01 09:39:58.947 INFO:     Using configured max_seq_len: 145408 "
                "tokens.",
                values={"n": 145408},
            ),
        ),
    ),
)
