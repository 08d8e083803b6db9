"""Ollama's server: which of its three engines runs, its GPUs, memory, and when it is ready."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, size_to_mib


def _engine(words: str, engine: str, sample: Sample) -> Pattern:
    """Make the pattern of the line that names the engine."""
    return Pattern(
        fact=Fact.PROGRAM,
        keys=(words,),
        regex=re.compile(rf'(?P<program>msg="(?P<engine>{words}))'),
        types={"program": always("Ollama"), "engine": always(engine)},
        samples=(sample,),
    )


PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=("Listening on ",),
        regex=re.compile(
            r'(?P<program>msg="(?P<at>Listening on) \S+ \(version (?P<version>[^)]+)\)")'
        ),
        types={"program": always("Ollama"), "at": always("start")},
        samples=(
            Sample(
                build="ollama 0.12.11 (public log)",
                line="time=2025-11-17T18:59:19.904-05:00 level=INFO source=routes.go:1597 "
                'msg="Listening on 127.0.0.1:11434 (version 0.12.11)"',
                values={"program": "Ollama", "version": "0.12.11", "at": "start"},
            ),
        ),
    ),
    _engine(
        "starting llama-server",
        "llama-server",
        Sample(
            build="ollama v0.30 (source, llm/server.go)",
            line="time=2026-05-02T10:11:12.000Z level=INFO source=server.go:391 "
            'msg="starting llama-server" cmd="/usr/lib/ollama/llama-server --port 41000"',
            values={"program": "Ollama", "engine": "llama-server"},
        ),
    ),
    _engine(
        "starting ollama engine",
        "Ollama's engine",
        Sample(
            build="ollama v0.12 (source, runner/ollamarunner/runner.go)",
            line="time=2025-10-01T10:11:12.000Z level=INFO source=runner.go:1349 "
            'msg="starting ollama engine"',
            values={"program": "Ollama", "engine": "Ollama's engine"},
        ),
    ),
    _engine(
        "starting go runner",
        "llama.cpp in Ollama's runner",
        Sample(
            build="ollama 2025-03 (case C03)",
            line="time=2025-03-05T20:08:37.783+08:00 level=INFO source=runner.go:931 "
            'msg="starting go runner"',
            values={"program": "Ollama", "engine": "llama.cpp in Ollama's runner"},
        ),
    ),
    _engine(
        "starting llama server",
        "llama.cpp in Ollama's server",
        Sample(
            build="ollama v0.3 (source, llm/server.go)",
            line="time=2024-08-03T10:42:41.000-07:00 level=INFO source=server.go:384 "
            'msg="starting llama server" cmd="/tmp/ollama1/runners/rocm/ollama_llama_server '
            '--model /models/sha256-1 --ctx-size 8192 --n-gpu-layers 33"',
            values={"program": "Ollama", "engine": "llama.cpp in Ollama's server"},
        ),
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=(
            "inference compute",
            "truncating input prompt",
            "msg=offload ",
            "dropping integrated GPU",
            "model weights",
        ),
        regex=re.compile(
            r'(?P<program>\w+\.go:\d+ msg=(?:"inference compute|"truncating input prompt'
            r'|offload |"dropping integrated GPU|"model weights))'
        ),
        types={"program": always("Ollama")},
        samples=(
            Sample(
                build="ollama 0.5.1 (case C40)",
                line="time=2024-12-14T18:01:09.338Z level=WARN source=runner.go:129 "
                'msg="truncating input prompt" limit=2048 prompt=3858 keep=5 new=2048',
                values={"program": "Ollama"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=("inference compute",),
        # since 2025-10 the device has a name, and the card is the description
        regex=re.compile(
            r'msg="inference compute"(?: id=\S+)?(?: filter_id=\S*)? library=(?P<library>\w+).*? '
            r'name=(?P<device>\w+) description="?(?P<description>[^"]*?)"?(?: \w+=.*?)?'
            r'(?: type="?(?P<type>\w*)"?)? total="(?P<total_mib>[\d.]+ \w+)" '
            r'available="(?P<free_mib>[\d.]+ \w+)"'
        ),
        types={"total_mib": size_to_mib, "free_mib": size_to_mib},
        samples=(
            Sample(
                build="ollama 0.30 (public log, 2026-06)",
                line="time=2026-06-06T07:22:24.799+02:00 level=INFO source=types.go:32 "
                'msg="inference compute" id=0 filter_id=0 library=CUDA compute=12.1 name=CUDA0 '
                'description="NVIDIA GB10" libdirs=ollama,cuda_v13 driver=13.0 '
                'pci_id=000f:01:00.0 type=iGPU total="121.6 GiB" available="110.0 GiB"',
                values={
                    "library": "CUDA",
                    "device": "CUDA0",
                    "description": "NVIDIA GB10",
                    "type": "iGPU",
                    "total_mib": 121.6 * 1024,
                    "free_mib": 110.0 * 1024,
                },
            ),
            Sample(
                build="ollama 0.12.11 (public log)",
                line="time=2025-11-17T18:59:19.949-05:00 level=INFO source=types.go:60 "
                'msg="inference compute" id=cpu library=cpu compute="" name=cpu description=cpu '
                'libdirs=ollama driver="" pci_id="" type="" total="31.7 GiB" available="22.1 GiB"',
                values={
                    "library": "cpu",
                    "device": "cpu",
                    "description": "cpu",
                    "type": "",
                    "total_mib": 31.7 * 1024,
                    "free_mib": 22.1 * 1024,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=("inference compute",),
        regex=re.compile(
            r'msg="inference compute" id=(?P<id>(?P<device>\S+)) library=(?P<library>\w+)'
            r'(?: variant=\S+)? compute=\S+ driver=\S+ name="?(?P<description>[^"]*?)"? '
            r'total="(?P<total_mib>[\d.]+ \w+)" available="(?P<free_mib>[\d.]+ \w+)"'
        ),
        types={"total_mib": size_to_mib, "free_mib": size_to_mib},
        samples=(
            Sample(
                build="ollama 0.3.3 (public log)",
                line="time=2024-08-03T10:42:38.775-07:00 level=INFO source=types.go:105 "
                'msg="inference compute" id=0 library=rocm compute=gfx1010 driver=6.8 '
                'name=1002:731f total="8.0 GiB" available="8.0 GiB"',
                values={
                    "id": "0",
                    "device": "0",
                    "library": "rocm",
                    "description": "1002:731f",
                    "total_mib": 8192.0,
                    "free_mib": 8192.0,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.FREE_MEMORY,
        keys=("system memory", "gpu memory"),
        regex=re.compile(r'msg="(?P<of>system|gpu) memory" .*?free="(?P<mib>[\d.]+ \w+)"'),
        types={"mib": size_to_mib},
        samples=(
            Sample(
                build="ollama v0.12 (source, llm/server.go)",
                line="time=2025-10-01T10:11:12.000Z level=INFO source=server.go:670 "
                'msg="system memory" total="31.2 GiB" free="25.0 GiB" free_swap="8.0 GiB"',
                values={"of": "system", "mib": 25.0 * 1024},
            ),
            Sample(
                build="ollama v0.12 (source, llm/server.go)",
                line="time=2025-10-01T10:11:12.000Z level=INFO source=server.go:678 "
                'msg="gpu memory" id=0 library=CUDA available="21.9 GiB" free="22.5 GiB" '
                'minimum="457.0 MiB" overhead="0 B"',
                values={"of": "gpu", "mib": 22.5 * 1024},
            ),
        ),
    ),
    Pattern(
        fact=Fact.NO_GPU_WARNING,
        keys=("no compatible GPUs were discovered",),
        regex=re.compile(r"no compatible GPUs were discovered"),
        samples=(
            Sample(
                build="ollama 2025-03 (public log)",
                line="time=2025-03-07T13:51:48.872Z level=INFO source=gpu.go:377 "
                'msg="no compatible GPUs were discovered"',
            ),
        ),
    ),
    Pattern(
        fact=Fact.GPU_DROPPED,
        keys=("skipping CUDA device", "dropping ROCm device"),
        regex=re.compile(
            r'msg="(?:skipping CUDA device|dropping ROCm device)[^"]*"'
            r'(?:.*?(?:device|description|name)="(?P<description>[^"]+)")?'
        ),
        samples=(
            Sample(
                build="ollama 0.30 (public log, 2026-06)",
                line="time=2026-06-06T07:22:21.387+02:00 level=INFO source=llama_server.go:292 "
                'msg="skipping CUDA device — compute capability not in compiled architectures" '
                'device="NVIDIA GB10" cc=1210',
                values={"description": "NVIDIA GB10"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.LOADED,
        keys=("llama runner started in ", "llama-server started in "),
        regex=re.compile(r"(?:llama runner|llama-server) started in [\d.]+ seconds"),
        samples=(
            Sample(
                build="ollama v0.12 (source, llm/server.go)",
                line="time=2025-10-01T10:11:14.000Z level=INFO source=server.go:1289 "
                'msg="llama runner started in 2.51 seconds"',
            ),
        ),
    ),
)
