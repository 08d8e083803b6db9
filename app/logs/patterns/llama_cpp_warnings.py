"""llama.cpp: lines that look alarming and are not, and those that say the text may be wrong."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.HARMLESS,
        keys=(
            "was not control-type",
            "full capacity of the model will not be utilized",
            "failed to mlock",
            "pinned memory",
            "and retrying",
            "retrying without pipeline parallelism",
            "special_eos_id is not in special_eog_ids",
            "security: no API key is set",
            "CORS is set to allow all origins",
            "logit bias = -inf",
        ),
        regex=re.compile(
            r"was not control-type|full capacity of the model will not be utilized"
            r"|failed to mlock \d+-byte buffer|failed to (?:allocate|register) .* of pinned memory"
            r"|Failed to allocate pinned memory"
            r"|alloc of .* MiB failed, flushing .* and retrying"
            r"|retrying without pipeline parallelism|special_eos_id is not in special_eog_ids"
            r"|security: no API key is set|CORS is set to allow all origins|logit bias = -inf"
        ),
        samples=(
            Sample(
                build="11434",
                line="0.07.703.637 W load: control-looking token:    212 '</s>' was not "
                "control-type; this is probably a bug in the model. its type will be overridden",
            ),
            Sample(
                build="11434",
                line="W warning: failed to mlock 42110976-byte buffer (after previously locking "
                "0 bytes): Cannot allocate memory",
            ),
        ),
    ),
    Pattern(
        fact=Fact.QUALITY_WARNING,
        keys=(
            "GENERATION QUALITY WILL BE DEGRADED",
            "falling back to chatml",
            "defaulting to chatml",
            "chat template parsing error",
            "synthetic speculative acceptance is enabled",
        ),
        regex=re.compile(
            r"GENERATION QUALITY WILL BE DEGRADED|falling back to chatml|defaulting to chatml"
            r"|chat template parsing error|synthetic speculative acceptance is enabled"
        ),
        samples=(
            Sample(
                build="11434 (source, src/llama-vocab.cpp)",
                line="load: GENERATION QUALITY WILL BE DEGRADED!        ",
            ),
        ),
    ),
)
