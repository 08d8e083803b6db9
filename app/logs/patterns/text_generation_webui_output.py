"""text-generation-webui: what it puts around the lines of llama.cpp, and its own rate."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=("Output generated in ",),
        regex=re.compile(r"(?P<program>Output generated) in [\d.]+ seconds \("),
        types={"program": always("text-generation-webui")},
        samples=(
            Sample(
                build="text-generation-webui 2023-06 (case C27)",
                line="Output generated in 163.82 seconds (0.39 tokens/s, 64 tokens, context 1623, "
                "seed 1809972029)",
                values={"program": "text-generation-webui"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("Output generated in ",),
        regex=re.compile(
            r"(?P<kind>Output generated) in (?P<s>[\d.]+) seconds \((?P<tps>[\d.]+) tokens/s, "
            r"(?P<n>\d+) tokens, context (?P<context>\d+)"
        ),
        types={"kind": always("mixed"), "s": float, "tps": float, "n": int, "context": int},
        may_break=True,
        samples=(
            Sample(
                build="text-generation-webui 2023-06 (case C27)",
                line="Output generated in 163.82 seconds (0.39 tokens/s, 64 tokens, context 1623, "
                "seed 1809972029)",
                values={"kind": "mixed", "s": 163.82, "tps": 0.39, "n": 64, "context": 1623},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADED,
        keys=("Loaded ",),
        regex=re.compile(r'INFO +Loaded ".+" in [\d.]+ seconds'),
        may_break=True,
        samples=(
            Sample(
                build="text-generation-webui 2025 (source, modules/models.py)",
                line='12:34:56-789012 INFO     Loaded "model.gguf" in 12.34 seconds.',
            ),
        ),
    ),
)
