"""Ollama's own lines; between them its runner prints llama.cpp's, without prefix."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import size_to_mib


def _memory(fact: Fact, message: str, *samples: Sample) -> Pattern:
    """Make the pattern of a line of the new engine (v0.6 to v0.24) that sums up one device."""
    return Pattern(
        fact=fact,
        keys=(message,),
        regex=re.compile(
            rf'msg="{message}" (?:backend=\S+ )?(?:device|buffer|buffer_type)='
            r'"?(?P<buffer>[^" ]+)"? size="(?P<mib>[\d.]+ \w+)"'
        ),
        types={"mib": size_to_mib},
        samples=samples,
    )


PATTERNS = (
    Pattern(
        fact=Fact.COMMAND,
        keys=("starting llama-server", "starting llama server", "starting runner"),
        regex=re.compile(r'msg="starting (?:llama-server|llama server|runner)" cmd=(?P<argv>.+)'),
        samples=(
            Sample(
                build="ollama v0.30 (source, llm/server.go)",
                line="time=2026-05-02T10:11:12.000Z level=INFO source=server.go:391 "
                'msg="starting llama-server" cmd="/usr/lib/ollama/llama-server --port 41000"',
                values={"argv": '"/usr/lib/ollama/llama-server --port 41000"'},
            ),
        ),
    ),
    _memory(
        Fact.WEIGHTS_BUFFER,
        "model weights",
        Sample(
            build="ollama v0.12 (source, ml/device.go)",
            line="time=2025-10-01T10:11:12.000Z level=INFO source=device.go:240 "
            'msg="model weights" device=CUDA0 size="4.3 GiB"',
            values={"buffer": "CUDA0", "mib": 4.3 * 1024},
        ),
        Sample(
            build="ollama 0.9 (ollama/ollama pull request 11090)",
            line="time=2025-07-18T14:51:00.217Z level=INFO source=ggml.go:365 "
            'msg="model weights" buffer=CUDA1 size="11.9 GiB"',
            values={"buffer": "CUDA1", "mib": 11.9 * 1024},
        ),
    ),
    _memory(
        Fact.KV_BUFFER,
        "kv cache",
        Sample(
            build="ollama v0.12 (source, ml/device.go)",
            line="time=2025-10-01T10:11:12.000Z level=INFO source=device.go:251 "
            'msg="kv cache" device=CUDA0 size="512.0 MiB"',
            values={"buffer": "CUDA0", "mib": 512.0},
        ),
    ),
    _memory(
        Fact.COMPUTE_BUFFER,
        "compute graph",
        Sample(
            build="ollama v0.12 (source, ml/device.go)",
            line="time=2025-10-01T10:11:12.000Z level=INFO source=device.go:262 "
            'msg="compute graph" device=CPU size="5.6 MiB"',
            values={"buffer": "CPU", "mib": 5.6},
        ),
        Sample(
            build="ollama 0.9 (ollama/ollama pull request 11090)",
            line="time=2025-07-18T14:51:01.272Z level=INFO source=ggml.go:672 "
            'msg="compute graph" backend=CUDA1 buffer_type=CUDA1 size="560.0 MiB"',
            values={"buffer": "CUDA1", "mib": 560.0},
        ),
    ),
    Pattern(
        fact=Fact.CONTEXT_TRUNCATED,
        keys=("truncating input prompt",),
        regex=re.compile(r'msg="truncating input prompt" limit=(?P<limit>\d+) prompt=(?P<n>\d+)'),
        types={"limit": int, "n": int},
        samples=(
            Sample(
                build="ollama v0.12 (source, runner/ollamarunner/runner.go)",
                line="time=2025-10-01T10:11:12.000Z level=WARN source=runner.go:152 "
                'msg="truncating input prompt" limit=4096 prompt=9000 keep=4 new=4096',
                values={"limit": 4096, "n": 9000},
            ),
        ),
    ),
)
