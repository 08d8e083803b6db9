"""llama.cpp: context sizes and flash attention."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import flash_state

PATTERNS = (
    Pattern(
        fact=Fact.N_CTX,
        keys=(": n_ctx ",),
        regex=re.compile(r": n_ctx +=\s+(?P<n>\d+)\s*$"),
        types={"n": int},
        samples=(
            Sample(
                build="11434",
                line="0.00.038.639 I llama_context: n_ctx                 = 1024",
                values={"n": 1024},
            ),
            Sample(
                build="2023-09",
                line="llm_load_print_meta: n_ctx          = 1024",
                values={"n": 1024},
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX_SEQ,
        keys=("n_ctx_seq ", "n_ctx_per_seq "),
        regex=re.compile(r": n_ctx_(?:per_)?seq +=\s+(?P<n>\d+)\s*$"),
        types={"n": int},
        samples=(
            Sample(
                build="11434",
                line="0.00.038.644 I llama_context: n_ctx_seq             = 1024",
                values={"n": 1024},
            ),
            Sample(
                build="4798", line="llama_init_from_model: n_ctx_per_seq = 1024", values={"n": 1024}
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX_SLOT,
        keys=("n_ctx_slot = ",),
        regex=re.compile(r"n_slots = (?P<slots>\d+), n_ctx_slot = (?P<n>\d+)"),
        types={"slots": int, "n": int},
        samples=(
            Sample(
                build="11434",
                line="0.02.000.000 I srv    load_model: initializing, n_slots = 4, "
                "n_ctx_slot = 4096, kv_unified = 'true'",
                values={"slots": 4, "n": 4096},
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX_SLOT,
        keys=("new slot",),
        regex=re.compile(r"slot +(?:init|load_model): .*new slot,? n_ctx(?:_slot)? = (?P<n>\d+)"),
        types={"n": int},
        samples=(
            Sample(
                build="7079",
                line="slot         init: id  0 | task -1 | new slot, n_ctx = 1024",
                values={"n": 1024},
            ),
            Sample(
                build="8672",
                line="slot   load_model: id  0 | task -1 | new slot, n_ctx = 1024",
                values={"n": 1024},
            ),
            Sample(
                build="4798",
                line="slot         init: id  0 | task -1 | new slot n_ctx_slot = 1024",
                values={"n": 1024},
            ),
        ),
    ),
    Pattern(
        fact=Fact.N_CTX_TRAIN,
        keys=("n_ctx_train ",),
        regex=re.compile(r": n_ctx_train +=\s+(?P<n>\d+)\s*$"),
        types={"n": int},
        samples=(
            Sample(
                build="11434",
                line="0.08.620.017 I print_info: n_ctx_train           = 32768",
                values={"n": 32768},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CTX_ABOVE_TRAIN,
        keys=("> n_ctx_train",),
        regex=re.compile(r"n_ctx(?:_\w+)? \((?P<n>\d+)\) > n_ctx_train \((?P<train>\d+)\)"),
        types={"n": int, "train": int},
        samples=(
            Sample(
                build="11434",
                line="0.01.427.658 W llama_context: n_ctx_seq (40000000) > n_ctx_train (32768) "
                "-- possible training context overflow",
                values={"n": 40000000, "train": 32768},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CTX_CAPPED,
        keys=("exceeds the training context of the model",),
        regex=re.compile(
            r"slot context \((?P<n>\d+)\) exceeds the training context of the model "
            r"\((?P<train>\d+)\)"
        ),
        types={"n": int, "train": int},
        samples=(
            Sample(
                build="10434",
                line="srv    load_model: the slot context (120064) exceeds the training context "
                "of the model (32768) - capping",
                values={"n": 120064, "train": 32768},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FLASH_ATTN,
        keys=("flash_attn ",),
        regex=re.compile(r": flash_attn +=\s+(?P<state>\w+)\s*$"),
        types={"state": flash_state},
        samples=(
            Sample(
                build="11434",
                line="0.00.038.664 I llama_context: flash_attn            = auto",
                values={"state": "auto"},
            ),
            Sample(
                build="4798",
                line="llama_init_from_model: flash_attn    = 0",
                values={"state": "disabled"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FLASH_ATTN,
        keys=("Flash Attention ",),
        regex=re.compile(
            r"Flash Attention (?:was auto, set to |not supported, set to )?"
            r"(?P<state>enabled|disabled)"
        ),
        samples=(
            Sample(
                build="11434",
                line="resolve_fused_ops: Flash Attention enabled",
                values={"state": "enabled"},
            ),
            Sample(
                build="7079",
                line="llama_context: Flash Attention was auto, set to enabled",
                values={"state": "enabled"},
            ),
        ),
    ),
)
