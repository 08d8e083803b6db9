"""Ollama: which GPUs it leaves out, what its runner can compute with, and its plan of a load."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import size_to_mib, sizes_to_mib

PATTERNS = (
    Pattern(
        fact=Fact.GPU_DROPPED,
        keys=("dropping integrated GPU",),
        regex=re.compile(
            r'msg="dropping integrated GPU[^"]*".* description="(?P<description>[^"]+)"'
        ),
        samples=(
            Sample(
                build="ollama 0.30.7",
                line='runner.go:396 msg="dropping integrated GPU; to enable, set '
                'OLLAMA_IGPU_ENABLE=1" id=1 library=Vulkan compute=0.0 name=Vulkan1 '
                'description="NVIDIA GeForce RTX 5070 Laptop GPU" pci_id=""',
                values={"description": "NVIDIA GeForce RTX 5070 Laptop GPU"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.SYSTEM_INFO,
        keys=("msg=system info=",),
        regex=re.compile(r'msg=system info="(?P<features>[^"]*)" threads=(?P<threads>\d+)'),
        types={"threads": int},
        samples=(
            Sample(
                build="ollama 2025-03",
                line="time=2025-03-05T20:08:37.823+08:00 level=INFO source=runner.go:934 "
                'msg=system info="CPU : LLAMAFILE = 1 | cgo(clang)" threads=8',
                values={"features": "CPU : LLAMAFILE = 1 | cgo(clang)", "threads": 8},
            ),
        ),
    ),
    Pattern(
        fact=Fact.OFFLOAD_PLAN,
        keys=("msg=offload library=",),
        regex=re.compile(
            r"msg=offload library=(?P<library>\w+) layers\.requested=(?P<requested>-?\d+) "
            r"layers\.model=(?P<layers>\d+) layers\.offload=(?P<offload>\d+)"
            r'.*?memory\.available="\[(?P<free>[\d.]+ \w+(?: [\d.]+ \w+)*)\]"'
            r'.*?memory\.required\.full="(?P<required>[^"]+)"'
            r'(?:.*?memory\.required\.kv="(?P<kv>[^"]+)")?'
            r'(?:.*?memory\.graph\.partial="(?P<graph>[^"]+)")?'
            r'(?:.*?projector\.weights="(?P<projector>[^"]+)" '
            r'projector\.graph="(?P<vision>[^"]+)")?'
        ),
        types={
            "requested": int,
            "layers": int,
            "offload": int,
            "free": sizes_to_mib,
            "kv": size_to_mib,
            "required": size_to_mib,
            "graph": size_to_mib,
            "projector": size_to_mib,
            "vision": size_to_mib,
        },
        samples=(
            Sample(
                build="ollama 0.6 (2025-05)",
                line="time=2025-05-19T10:50:36.626+05:00 level=INFO source=server.go:168 "
                "msg=offload library=cuda layers.requested=-1 layers.model=35 layers.offload=0 "
                'layers.split="" memory.available="[3.2 GiB]" memory.gpu_overhead="0 B" '
                'memory.required.full="2.6 GiB" memory.required.partial="0 B" '
                'memory.required.kv="254.0 MiB" memory.required.allocations="[0 B]" '
                'memory.weights.total="2.3 GiB" memory.weights.repeating="1.8 GiB" '
                'memory.weights.nonrepeating="525.0 MiB" memory.graph.full="517.0 MiB" '
                'memory.graph.partial="1.0 GiB" projector.weights="795.9 MiB" '
                'projector.graph="1.0 GiB"',
                values={
                    "library": "cuda",
                    "requested": -1,
                    "layers": 35,
                    "offload": 0,
                    "free": 3.2 * 1024,
                    "required": 2.6 * 1024,
                    "kv": 254.0,
                    "graph": 1024.0,
                    "projector": 795.9,
                    "vision": 1024.0,
                },
            ),
            Sample(
                build="ollama 0.5 (2025-02, public report; free memory of each card)",
                line="time=2025-02-18T02:29:51.627Z level=INFO source=server.go:130 msg=offload "
                "library=cuda layers.requested=-1 layers.model=81 layers.offload=44 "
                'layers.split=11,11,11,11 memory.available="[22.0 GiB 22.0 GiB 22.0 GiB '
                '22.0 GiB]" memory.gpu_overhead="0 B" memory.required.full="127.4 GiB" '
                'memory.required.partial="87.1 GiB" memory.required.kv="19.5 GiB" '
                'memory.weights.total="87.3 GiB" memory.graph.partial="8.2 GiB"',
                values={
                    "library": "cuda",
                    "requested": -1,
                    "layers": 81,
                    "offload": 44,
                    "free": 88.0 * 1024,
                    "required": 127.4 * 1024,
                    "kv": 19.5 * 1024,
                    "graph": 8.2 * 1024,
                },
            ),
        ),
    ),
)
