"""LM Studio, Jan and text-generation-webui: what they put around the lines of llama.cpp."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, decimal_gb

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=("[llamacpp", "[tauri_plugin_llamacpp"),
        regex=re.compile(r"(?P<program>\[(?:llamacpp(?:-router \w+)?|tauri_plugin_llamacpp\S*)\])"),
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
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("[LM STUDIO ", "[LMSInternal]", "[LMSAuthenticator]"),
        regex=re.compile(r"(?P<program>\[(?:LM STUDIO \w+|LMSInternal|LMSAuthenticator)\])"),
        types={"program": always("LM Studio")},
        samples=(
            Sample(
                build="LM Studio 0.3 (public log)",
                line="[2025-08-01 12:00:00][INFO][LM STUDIO SERVER] Success! HTTP server "
                "listening on port 1234",
                values={"program": "LM Studio"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("stopped due to insufficient system resources",),
        regex=re.compile(
            r"Model loading was stopped due to insufficient system resources"
            r"(?:.*?requires approximately (?P<n_bytes>\d+(?:\.\d+)?) ?GB)?"
        ),
        types={"n_bytes": decimal_gb},
        samples=(
            Sample(
                build="LM Studio 0.3 (public report)",
                line="Error: Model loading was stopped due to insufficient system resources. "
                "Under the current settings, this model requires approximately 30.5 GB of memory",
                values={"n_bytes": 30_500_000_000},
            ),
            Sample(
                build="LM Studio 0.3 (public report; its guess may be no number)",
                line="Error: Model loading was stopped due to insufficient system resources. "
                "Under the current settings, this model requires approximately NaN GB of memory",
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("Not enough resources to load the model",),
        regex=re.compile(r"Not enough resources to load the model"),
        samples=(
            Sample(
                build="LM Studio 0.4 (public report)",
                line="Not enough resources to load the model with the current settings",
            ),
        ),
    ),
    Pattern(
        fact=Fact.KILLED,
        keys=("(Exit code: null)",),
        regex=re.compile(r"\(Exit code: null\)"),
        samples=(
            Sample(
                build="LM Studio 0.3 (public report)",
                line='{"title":"Error loading model.","cause":"(Exit code: null). Please check '
                'settings and try loading the model again. "}',
            ),
        ),
    ),
    Pattern(
        fact=Fact.CRASHED,
        keys=("(Exit code: ",),
        # Windows' crash codes, signed or as a float that lost its last digits
        regex=re.compile(r"\(Exit code: (?P<code>-?\d{2,22})\)"),
        samples=(
            Sample(
                build="LM Studio 0.3 (public report)",
                line='{"title":"Error loading model.","cause":"(Exit code: '
                '18446744072635812000). Unknown error."}',
                values={"code": "18446744072635812000"},
            ),
        ),
    ),
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
        samples=(
            Sample(
                build="text-generation-webui 2025 (source, modules/models.py)",
                line='12:34:56-789012 INFO     Loaded "model.gguf" in 12.34 seconds.',
            ),
        ),
    ),
)
