"""llama.cpp: where a load begins, which passes it makes, when it is ready and how it ends."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always

PATTERNS = (
    Pattern(
        fact=Fact.LOAD_START,
        keys=("load_model: loading model '",),
        regex=re.compile(r"load_model: loading model '(?P<path>.+)'"),
        samples=(
            Sample(
                build="11434",
                line="0.00.034.000 I srv    load_model: loading model '/models/truncated.gguf'",
                values={"path": "/models/truncated.gguf"},
            ),
            Sample(
                build="4798",
                line="srv    load_model: loading model '/models/tiny-llama-40M-Q8_0.gguf'",
                values={"path": "/models/tiny-llama-40M-Q8_0.gguf"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOAD_START,
        keys=("llama.cpp: loading model from ",),
        regex=re.compile(r"llama\.cpp: loading model from (?P<path>.+)"),
        samples=(
            Sample(
                build="2023-04 (public report)",
                line="llama.cpp: loading model from ./models/llama-7b/ggml-model-q4.bin",
                values={"path": "./models/llama-7b/ggml-model-q4.bin"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOAD_START,
        keys=("loading draft model '",),
        regex=re.compile(r"loading (?P<kind>draft) model '(?P<path>.+)'"),
        types={"kind": always("draft")},
        samples=(
            Sample(
                build="11434 (source, common/speculative.cpp)",
                line="common_speculative_init_result: loading draft model '/models/draft.gguf'",
                values={"kind": "draft", "path": "/models/draft.gguf"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.MODEL_FILE,
        keys=("loaded meta data with ",),
        regex=re.compile(
            r"loaded meta data with \d+ key-value pairs and (?P<tensors>\d+) tensors "
            r"from (?P<path>.+?) \(version "
        ),
        types={"tensors": int},
        samples=(
            Sample(
                build="11434",
                line="0.00.031.014 I llama_model_loader: loaded meta data with 19 key-value pairs "
                "and 111 tensors from /models/tiny-llama-40M-Q8_0.gguf (version GGUF V3 (latest))",
                values={"tensors": 111, "path": "/models/tiny-llama-40M-Q8_0.gguf"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DRY_PASS,
        keys=("no_alloc ",),
        regex=re.compile(r"print_info: no_alloc +=\s*(?P<no_alloc>[01])\s*$"),
        types={"no_alloc": int},
        samples=(
            Sample(
                build="11434",
                line="0.08.620.009 I print_info: no_alloc              = 0",
                values={"no_alloc": 0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADING_TENSORS,
        keys=("loading model tensors",),
        regex=re.compile(
            r"loading model tensors, this can take a while\.\.\. "
            r"\((?:load_mode|mmap) = (?P<mode>[\w+]+)"
        ),
        samples=(
            Sample(
                build="11434",
                line="load_tensors: loading model tensors, this can take a while... "
                "(load_mode = mmap)",
                values={"mode": "mmap"},
            ),
            Sample(
                build="7079",
                line="load_tensors: loading model tensors, this can take a while... (mmap = true)",
                values={"mode": "true"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADED,
        keys=(": model loaded", "listening on http", "starting the main loop"),
        regex=re.compile(r": model loaded\s*$|listening on https?://|starting the main loop"),
        samples=(
            Sample(build="11434", line="0.02.100.000 I srv  llama_server: model loaded"),
            Sample(
                build="11434",
                line="0.29.992.781 I srv  llama_server: listening on http://127.0.0.1:52210",
            ),
        ),
    ),
    Pattern(
        fact=Fact.CLEAN_EXIT,
        keys=("cleaning up before exit", "Log end"),
        regex=re.compile(r"cleaning up before exit|^Log end\s*$"),
        samples=(
            Sample(
                build="11434",
                line="0.00.042.002 I srv    operator(): operator(): cleaning up before exit...",
            ),
            Sample(build="2024-02", line="Log end"),
        ),
    ),
    Pattern(
        fact=Fact.CRASHED,
        # ggml_print_backtrace names itself once in each backtrace, by gdb as by libc
        keys=("ggml_print_backtrace", "GGML_ASSERT(", "Segmentation fault", "Illegal instruction"),
        regex=re.compile(
            r"ggml_print_backtrace|GGML_ASSERT\(.*\) failed|Segmentation fault|Illegal instruction"
        ),
        samples=(
            Sample(
                build="11434",
                line="#1  0x00007f983254e6fb in ggml_print_backtrace () "
                "from /opt/llama/libggml-base.so.0",
            ),
        ),
    ),
)
