"""llama-server: the caches of earlier texts that it keeps in system memory (--cache-ram)."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.PROMPT_CACHE,
        keys=(" - cache state: ",),
        regex=re.compile(
            r"- cache state: (?P<prompts>\d+) prompts, (?P<mib>[\d.]+) MiB "
            r"\(limits: (?P<limit_mib>[\d.]+) MiB"
        ),
        types={"prompts": int, "mib": float, "limit_mib": float},
        samples=(
            Sample(
                build="10434",
                line="0.17.736.174 I srv        update:  - cache state: 0 prompts, 0.000 MiB "
                "(limits: 8192.000 MiB, 4096 tokens, 8589934592 est)",
                values={"prompts": 0, "mib": 0.0, "limit_mib": 8192.0},
            ),
        ),
    ),
)
