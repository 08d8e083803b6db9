"""Ollama: the context it takes, prompts it cuts, settings it ignores, and loads that fail."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import size_to_bytes

PATTERNS = (
    Pattern(
        fact=Fact.CTX_CHOSEN,
        keys=("vram-based default context",),
        regex=re.compile(r'msg="vram-based default context".* default_num_ctx=(?P<n>\d+)'),
        types={"n": int},
        samples=(
            Sample(
                build="ollama 0.30 (public log, 2026-06)",
                line="time=2026-06-06T07:22:24.799+02:00 level=INFO source=routes.go:2031 "
                'msg="vram-based default context" total_vram="121.6 GiB" default_num_ctx=262144',
                values={"n": 262144},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CTX_ABOVE_TRAIN,
        keys=("requested context size too large for model",),
        regex=re.compile(
            r'msg="requested context size too large for model" num_ctx=(?P<n>\d+)'
            r"(?: num_parallel=\d+)? n_ctx_train=(?P<train>\d+)"
        ),
        types={"n": int, "train": int},
        samples=(
            Sample(
                build="ollama v0.12 (source, llm/server.go)",
                line="time=2025-10-01T10:11:12.000Z level=WARN source=server.go:178 "
                'msg="requested context size too large for model" num_ctx=262144 '
                "n_ctx_train=131072",
                values={"n": 262144, "train": 131072},
            ),
        ),
    ),
    Pattern(
        fact=Fact.FIT_CTX_REDUCED,
        keys=("reducing automatic context and retrying once",),
        regex=re.compile(
            r"reducing automatic context and retrying once.*? old_num_ctx=(?P<before>\d+)"
            r".*? new_num_ctx=(?P<after>\d+)"
        ),
        types={"before": int, "after": int},
        samples=(
            Sample(
                build="ollama 0.33 (source, server/sched.go)",
                line="time=2026-08-14T20:21:10.761Z level=WARN source=sched.go:601 "
                'msg="llama-server load failed; reducing automatic context and retrying once" '
                "model=/models/sha256-1 old_num_ctx=262144 effective_num_ctx=262144 "
                "new_num_ctx=131072 old_num_batch=512 new_num_batch=512",
                values={"before": 262144, "after": 131072},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CONTEXT_TRUNCATED,
        keys=("context limit hit - shifting",),
        regex=re.compile(r"context limit hit - (?P<shift>shifting)"),
        samples=(
            Sample(
                build="ollama v0.12 (source, runner/ollamarunner/runner.go)",
                line="time=2025-10-01T10:11:12.000Z level=DEBUG source=runner.go:300 "
                'msg="context limit hit - shifting" id=0 limit=4096 input=4096 keep=4 discard=2046',
                values={"shift": "shifting"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.CONTEXT_TRUNCATED,
        keys=("truncating input messages which exceed context length",),
        regex=re.compile(r"truncating input messages which exceed context length"),
        samples=(
            Sample(
                build="ollama v0.12 (source, server/prompt.go)",
                line="time=2025-10-01T10:11:12.000Z level=DEBUG source=prompt.go:77 "
                'msg="truncating input messages which exceed context length" truncated=4',
            ),
        ),
    ),
    Pattern(
        fact=Fact.SETTING_IGNORED,
        keys=(
            "flash attention enabled but not supported by",
            "quantized kv cache requested but flash attention disabled",
            "kv cache type not supported by model",
        ),
        regex=re.compile(
            r"(?P<what>flash attention enabled but not supported by \w+"
            r"|quantized kv cache requested but flash attention disabled"
            r"|kv cache type not supported by model(?!\" type=\"\"))"
        ),
        samples=(
            Sample(
                build="ollama v0.12 (source, llm/server.go)",
                line="time=2025-10-01T10:11:12.000Z level=WARN source=server.go:210 "
                'msg="quantized kv cache requested but flash attention disabled" type=q8_0',
                values={"what": "quantized kv cache requested but flash attention disabled"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.MEMORY_PRESSURE,
        keys=(
            "model layout did not fit, applying backoff",
            "memory layout cannot be allocated",
            "model predicted to exceed available memory, evicting",
        ),
        regex=re.compile(
            r"model layout did not fit, applying backoff|memory layout cannot be allocated"
            r"|model predicted to exceed available memory, evicting"
        ),
        samples=(
            Sample(
                build="ollama v0.12 (source, llm/server.go)",
                line="time=2025-10-01T10:11:12.000Z level=INFO source=server.go:740 "
                'msg="model layout did not fit, applying backoff" backoff=0.10',
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("model requires more system memory",),
        regex=re.compile(
            r"model requires more system memory \((?P<n_bytes>[\d.]+ \w+)\) than is available "
            r"\((?P<free>[\d.]+ \w+)\)"
        ),
        types={"n_bytes": size_to_bytes, "free": size_to_bytes},
        samples=(
            Sample(
                build="ollama 2025 (source, llm/server.go)",
                line="Error: model requires more system memory (16.5 GiB) than is available "
                "(7.6 GiB)",
                values={"n_bytes": round(16.5 * 1024**3), "free": round(7.6 * 1024**3)},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_CONSEQUENCE,
        keys=("llama runner process has terminated", "error loading llama server"),
        regex=re.compile(r"llama runner process has terminated|error loading llama server"),
        samples=(
            Sample(
                build="ollama 2025 (source, llm/server.go)",
                line="Error: llama runner process has terminated: CUDA error",
            ),
        ),
    ),
    Pattern(
        fact=Fact.HARMLESS,
        keys=("gpu VRAM usage didn't recover within timeout",),
        regex=re.compile(r"gpu VRAM usage didn't recover within timeout"),
        samples=(
            Sample(
                build="ollama 2025 (source, server/sched.go)",
                line="time=2025-10-01T10:11:12.000Z level=WARN source=sched.go:655 "
                'msg="gpu VRAM usage didn\'t recover within timeout" seconds=5.1',
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("prompt eval rate: ",),
        regex=re.compile(r"(?P<kind>prompt eval) rate: +(?P<prompt_tps>[\d.]+) tokens/s"),
        types={"prompt_tps": float, "kind": lambda _text: "uncounted"},
        samples=(
            Sample(
                build="ollama 2026 (ollama run --verbose)",
                line="prompt eval rate:     46.22 tokens/s",
                values={"kind": "uncounted", "prompt_tps": 46.22},
            ),
        ),
    ),
    Pattern(
        fact=Fact.RATE_SHOWN,
        keys=("eval rate: ",),
        regex=re.compile(r"(?<!prompt )(?P<kind>eval) rate: +(?P<tps>[\d.]+) tokens/s"),
        types={"tps": float, "kind": lambda _text: "uncounted"},
        samples=(
            Sample(
                build="ollama 2026 (ollama run --verbose)",
                line="eval rate:            14.60 tokens/s",
                values={"kind": "uncounted", "tps": 14.6},
            ),
        ),
    ),
)
