"""Ollama to 2025-02: its plan under an older name, its first engine, and journald's own tag."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, size_to_mib, sizes_to_mib

_PLAN = (
    'time=2025-02-07T09:39:05.074Z level=INFO source=memory.go:356 msg="offload to cuda" '
    'layers.requested=-1 layers.model=33 layers.offload=33 layers.split="" '
    'memory.available="[22.5 GiB]" memory.gpu_overhead="0 B" memory.required.full="17.3 GiB" '
    'memory.required.partial="17.3 GiB" memory.required.kv="8.0 GiB" '
    'memory.weights.total="11.9 GiB" memory.graph.full="4.2 GiB" memory.graph.partial="4.4 GiB"'
)
_REAL = (
    'time=2024-06-01T14:10:13.332+03:00 level=INFO source=memory.go:133 msg="offload to gpu" '
    'layers.requested=-1 layers.real=0 memory.available="220.7 MiB" memory.required.full="4.6 GiB"'
)

PATTERNS = (
    Pattern(
        fact=Fact.PROGRAM,
        keys=(" ollama[",),
        regex=re.compile(r"(?P<program> ollama)\[\d+\]: "),
        types={"program": always("Ollama")},
        samples=(
            Sample(
                build="journald, ollama 0.7 (ollama/ollama issue 10833)",
                line="May 24 22:58:23 host ollama[1391]: load_tensors: offloaded 5/37 layers to "
                "GPU",
                values={"program": "Ollama"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=(
            "source=server.go:",
            "source=sched.go:",
            "source=memory.go:",
            "source=backend.go:",
            "source=ggml.go:",
        ),
        regex=re.compile(r"(?P<program>level=[A-Z]+ source=\w+\.go):\d+ msg="),
        types={"program": always("Ollama")},
        samples=(
            Sample(
                build="ollama 0.11.6 (ollama/ollama issue 12027)",
                line="time=2025-08-24T08:26:00.310Z level=INFO source=backend.go:321 "
                'msg="kv cache" device=CUDA0 size="936.0 MiB"',
                values={"program": "Ollama"},
            ),
        ),
        is_wrapper=True,
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("--ollama-engine",),
        regex=re.compile(
            r'msg="starting (?:llama server|runner)" cmd=(?P<program>.* )'
            r"(?P<engine>--ollama-engine)"
        ),
        types={"program": always("Ollama"), "engine": always("Ollama's engine")},
        samples=(
            Sample(
                build="ollama 0.11.6 (ollama/ollama pull request 12000)",
                line="time=2025-08-22T17:36:22.176-04:00 level=INFO source=server.go:438 "
                'msg="starting llama server" cmd="/usr/local/bin/ollama runner --ollama-engine '
                '--model /m/sha256-1 --ctx-size 8192"',
                values={"program": "Ollama", "engine": "Ollama's engine"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GPU_NO_KERNELS,
        keys=("amdgpu is not supported",),
        regex=re.compile(r'msg="amdgpu is not supported[^"]*" gpu_type=(?P<arch>gfx\w+)'),
        samples=(
            Sample(
                build="ollama 0.5.4 (likelovewant/ollama-for-amd issue 40)",
                line="time=2025-01-23T16:42:09.019+01:00 level=WARN source=amd_windows.go:140 "
                'msg="amdgpu is not supported (supported types:[gfx1103])" gpu_type=gfx1150 gpu=0',
                values={"arch": "gfx1150"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.HARMLESS,
        keys=("unsupported Radeon iGPU detected skipping",),
        regex=re.compile(r"unsupported Radeon iGPU detected skipping"),
        samples=(
            Sample(
                build="ollama 0.9.6 (ollama/ollama issue 11557)",
                line="time=2025-07-26T11:15:53.149+03:00 level=INFO source=amd_linux.go:296 "
                'msg="unsupported Radeon iGPU detected skipping" id=1 total="512.0 MiB"',
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROGRAM,
        keys=("Loading Dynamic llm server: ", "Initializing llama server"),
        regex=re.compile(
            r"(?P<program>Loading Dynamic llm server: \S+?/(?P<version>\d+\.\d+\.\d+)[/\\]"
            r"|\.go:\d+ msg=.Initializing llama server)"
        ),
        types={"program": always("Ollama")},
        samples=(
            Sample(
                build="ollama 0.1.28 (ollama/ollama issue 3301)",
                line="time=2024-03-22T20:48:20.624Z level=INFO source=dyn_ext_server.go:90 "
                'msg="Loading Dynamic llm server: /usr/share/ollama/.ollama/assets/0.1.28/cuda_v11/'
                'libext_server.so"',
                values={"program": "Ollama", "version": "0.1.28"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.OFFLOAD_PLAN,
        keys=("layers.requested=",),
        regex=re.compile(
            r'msg="offload to (?P<library>\w+)" layers\.requested=(?P<requested>-?\d+) '
            r"layers\.model=(?P<layers>\d+) layers\.offload=(?P<offload>\d+)"
            r'.*?memory\.available="\[(?P<free>[\d.]+ \w+(?: [\d.]+ \w+)*)\]"'
            r'.*?memory\.required\.full="(?P<required>[^"]+)"'
            r'(?:.*?memory\.required\.kv="(?P<kv>[^"]+)")?'
            r'(?:.*?memory\.graph\.partial="(?P<graph>[^"]+)")?'
        ),
        types={
            "requested": int,
            "layers": int,
            "offload": int,
            "free": sizes_to_mib,
            "required": size_to_mib,
            "kv": size_to_mib,
            "graph": size_to_mib,
        },
        samples=(
            Sample(
                build="ollama 0.5.7 (ollama/ollama issue 8923)",
                line=_PLAN,
                values={
                    "library": "cuda",
                    "requested": -1,
                    "layers": 33,
                    "offload": 33,
                    "free": 22.5 * 1024,
                    "required": 17.3 * 1024,
                    "kv": 8.0 * 1024,
                    "graph": 4.4 * 1024,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.LAYERS_CHOSEN,
        keys=("layers.requested=",),
        regex=re.compile(r'msg="offload to \w+" layers\.requested=-1 layers\.real=(?P<n>\d+)'),
        types={"n": int},
        samples=(
            Sample(build="ollama 0.1.39 (ollama/ollama issue 4726)", line=_REAL, values={"n": 0}),
        ),
    ),
    Pattern(
        fact=Fact.FREE_MEMORY,
        keys=("layers.requested=",),
        regex=re.compile(
            r'msg="offload to (?P<of>\w+)" layers\.requested=-?\d+ layers\.real=\d+ '
            r'memory\.available="(?P<mib>[\d.]+ \w+)"'
        ),
        types={"of": always("gpu"), "mib": size_to_mib},
        samples=(
            Sample(
                build="ollama 0.1.39 (ollama/ollama issue 4726)",
                line=_REAL,
                values={"of": "gpu", "mib": 220.7},
            ),
        ),
    ),
    Pattern(
        fact=Fact.NO_GPU_WARNING,
        keys=("NVIDIA driver too old",),
        regex=re.compile(r'msg="(?P<reason>NVIDIA driver too old)" device="(?P<device>[^"]+)"'),
        samples=(
            Sample(
                build="ollama 0.33.2 (public log, 2026-09)",
                line="time=2026-09-02T16:52:02.246Z level=WARN source=cuda_compat.go:65 "
                'msg="NVIDIA driver too old" device="NVIDIA GeForce RTX 3060 Laptop GPU" '
                'compute=8.6 driver=546 required_driver="550 or newer"',
                values={
                    "reason": "NVIDIA driver too old",
                    "device": "NVIDIA GeForce RTX 3060 Laptop GPU",
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.HARMLESS,
        keys=("kv cache type not supported by model",),
        regex=re.compile(r'kv cache type not supported by model" type=""'),
        samples=(
            Sample(
                build="ollama 0.5 (ollama/ollama issue 9181; no type was asked for)",
                line="time=2025-02-18T02:21:25.646Z level=WARN source=server.go:190 "
                'msg="kv cache type not supported by model" type=""',
            ),
        ),
    ),
)
