"""Jan: its app's log, its engine cortex (2024-11 to 2025-06) and the one before that, Nitro."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, unescaped

_PARAMS = (
    '2024-02-01T21:57:52.432Z [NITRO]::Debug: Loading model with params {"ctx_len":4096,'
    '"llama_model_path":"/home/user/jan/models/hermes/hermes.gguf","cpu_threads":10,"ngl":100}'
)

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=("[llamacpp", "[tauri_plugin_llamacpp", "[NITRO]::", " - llama_engine.cc:"),
        regex=re.compile(
            r"(?P<program>\[(?:llamacpp(?:-router(?: \w+)?)?|tauri_plugin_llamacpp\S*)\]"
            r"|\[NITRO\]::|(?:^| )- llama_engine\.cc:\d)"
        ),
        types={"program": always("Jan")},
        samples=(
            Sample(
                build="Jan 0.8.1 (case C06)",
                line="INFO [llamacpp-router stdout] [45979] 0.00.116.142 I srv load_model: "
                "loading model '<path>/model.gguf'",
                values={"program": "Jan"},
            ),
            Sample(
                build="Jan 0.6 (public log)",
                line="[2025-09-01][10:11:12][tauri_plugin_llamacpp::commands][INFO] [llamacpp] "
                "load_tensors: offloaded 29/29 layers to GPU",
                values={"program": "Jan"},
            ),
            Sample(
                build="Jan 0.4.9 (janhq/jan issue 2391)",
                line="2024-03-22T09:56:00.550Z [NITRO]::Error: llm_load_tensors: offloading 32 "
                "repeating layers to GPU",
                values={"program": "Jan"},
            ),
            Sample(
                build="Jan 0.5.9 (janhq/cortex.cpp issue 1719)",
                line=" - llama_engine.cc:475",
                values={"program": "Jan"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.COMMAND,
        keys=("Loading model with params ",),
        regex=re.compile(r"Loading model with params (?P<argv>\{.+)"),
        samples=(
            Sample(
                build="Jan 0.4.5 (janhq/jan issue 1897)",
                line=_PARAMS,
                values={"argv": _PARAMS.partition("params ")[2]},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOAD_START,
        keys=("llama_model_path",),
        regex=re.compile(r'"llama_model_path" ?: ?"(?P<path>[^"]+)"'),
        types={"path": unescaped},
        samples=(
            Sample(
                build="Jan 0.4.5 (janhq/jan issue 1897)",
                line=_PARAMS,
                values={"path": "/home/user/jan/models/hermes/hermes.gguf"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_OTHER,
        keys=("Could not load engine", "Model appears to have crashed"),
        regex=re.compile(r"(?P<what>Could not load engine|Model appears to have crashed)"),
        samples=(
            Sample(
                build="Jan 0.5.7 (janhq/cortex.cpp issue 1745)",
                line="20241128 03:48:41.743000 UTC 21264 ERROR Could not load engine: Could not "
                'load library "C:\\Users\\user\\Jan\\engines\\cortex.llamacpp\\engine.dll"',
                values={"what": "Could not load engine"},
            ),
        ),
    ),
)
