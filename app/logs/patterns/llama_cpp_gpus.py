"""llama.cpp: the lists of devices that CUDA, ROCm, Metal and SYCL print by themselves."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, bytes_to_mib, numbered

PATTERNS = (
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=(", compute capability ",),
        regex=re.compile(
            r"Device (?P<device>\d+): (?P<description>[^,]+), compute capability "
            r"(?P<compute>\d+\.\d+)(?:.*, VRAM: (?P<total_mib>\d+) MiB)?"
        ),
        types={"device": numbered("CUDA"), "total_mib": int},
        samples=(
            Sample(
                build="2024-02 (source, ggml-cuda.cu)",
                line="  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes",
                values={
                    "device": "CUDA0",
                    "description": "NVIDIA GeForce RTX 3090",
                    "compute": "8.6",
                },
            ),
            Sample(
                build="11434 (source, ggml-cuda.cu)",
                line="  Device 1: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, "
                "VRAM: 24245 MiB",
                values={
                    "device": "CUDA1",
                    "description": "NVIDIA GeForce RTX 3090",
                    "compute": "8.6",
                    "total_mib": 24245,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=(", Wave Size: ",),
        regex=re.compile(
            r"Device (?P<device>\d+): (?P<description>[^,]+), (?P<compute>gfx\w+) \(0x\w+\)"
            r".*?, Wave Size: \d+(?:, VRAM: (?P<total_mib>\d+) MiB)?"
        ),
        types={"device": numbered("ROCm"), "total_mib": int},
        samples=(
            Sample(
                build="2025-08 (source, ggml-cuda.cu)",
                line="  Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100), VMM: no, Wave Size: 32",
                values={
                    "device": "ROCm0",
                    "description": "AMD Radeon RX 7900 XTX",
                    "compute": "gfx1100",
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=("ggml_metal_device_init: GPU name: ",),
        regex=re.compile(r"GPU name: +(?P<device>MTL\d+) \((?P<description>.+)\)"),
        samples=(
            Sample(
                build="11434 (source, ggml-metal-device.m)",
                line="ggml_metal_device_init: GPU name:   MTL0 (Apple M4 Max)",
                values={"device": "MTL0", "description": "Apple M4 Max"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=("ggml_metal_init: found device: ",),
        regex=re.compile(r"ggml_metal_init: found (?P<device>device): (?P<description>.+)"),
        types={"device": always("Metal")},  # as its buffers are called to 2025
        samples=(
            Sample(
                build="2024-02 (source, ggml-metal.m)",
                line="ggml_metal_init: found device: Apple M1 Max",
                values={"device": "Metal", "description": "Apple M1 Max"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=("[level_zero:gpu:", "[opencl:gpu:"),
        regex=re.compile(
            r"^\| {0,3}(?P<device>\d{1,3})\| {0,3}\[(?:level_zero|opencl):gpu:\d\]\| {0,60}"
            r"(?P<description>[^|]{1,80}?) {0,60}\|(?:[^|]{0,20}\|){4} {0,8}(?P<total_mib>\d+)M\|"
        ),
        types={"device": numbered("SYCL"), "total_mib": int},
        samples=(
            Sample(
                build="2025-05 (source, ggml-sycl.cpp)",
                line="| 0| [level_zero:gpu:0]|                Intel Arc A770 Graphics|  12.55|    "
                "512|    1024|   32| 16225M|     1.6.33578+11|",
                values={
                    "device": "SYCL0",
                    "description": "Intel Arc A770 Graphics",
                    "total_mib": 16225,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=("[level_zero:gpu:", "[opencl:gpu:"),
        # SYCL's table of early 2024 has bytes
        regex=re.compile(
            r"^\| {0,3}(?P<device>\d{1,3})\| {0,3}\[(?:level_zero|opencl):gpu:\d\]\| {0,60}"
            r"(?P<description>[^|]{1,80}?) {0,60}\|(?:[^|]{0,20}\|){4} {0,12}(?P<total_mib>\d+)\|"
        ),
        types={"device": numbered("SYCL"), "total_mib": bytes_to_mib},
        samples=(
            Sample(
                build="2416 (ggml-org/llama.cpp issue 6036)",
                line="| 0|[level_zero:gpu:0]|               Intel(R) Arc(TM) A770 Graphics|       "
                "1.3|        512|    1024|     32|    16225243136|",
                values={
                    "device": "SYCL0",
                    "description": "Intel(R) Arc(TM) A770 Graphics",
                    "total_mib": 15473,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.HARMLESS,
        keys=("with the same id",),
        regex=re.compile(r"skipping device .* already using device .* with the same id"),
        samples=(
            Sample(
                build="2026-03 (source, src/llama.cpp)",
                line="llama_prepare_model_devices: skipping device Vulkan0 (NVIDIA GeForce RTX "
                "3090) with id 0000:01:00.0 - already using device CUDA0 (NVIDIA GeForce RTX 3090) "
                "with the same id",
            ),
        ),
    ),
    Pattern(
        fact=Fact.VOCAB_ONLY,
        keys=("vocab only - skipping tensors",),
        regex=re.compile(r"vocab only - skipping tensors"),
        samples=(
            Sample(
                build="2025-03 (source, src/llama.cpp)",
                line="llama_model_load: vocab only - skipping tensors",
            ),
        ),
    ),
    Pattern(
        fact=Fact.KILLED,
        keys=("signal: killed", "Out of memory: Killed process", "oom-kill:"),
        regex=re.compile(r"signal: killed|Out of memory: Killed process|oom-kill:"),
        samples=(
            Sample(
                build="ollama 2025 (source, llm/server.go)",
                line="time=2025-03-05T20:09:01.100Z level=ERROR source=sched.go:456 "
                'msg="error loading llama server" error="llama runner process has terminated: '
                'signal: killed"',
            ),
            Sample(
                build="Linux kernel",
                line="kernel: Out of memory: Killed process 4711 (llama-server) "
                "total-vm:24105840kB, anon-rss:15800000kB",
            ),
        ),
    ),
    Pattern(
        fact=Fact.KILLED,
        keys=("Killed",),
        regex=re.compile(r"^Killed(?:: 9)?$"),
        samples=(Sample(build="bash", line="Killed"), Sample(build="zsh", line="Killed: 9")),
    ),
    Pattern(
        fact=Fact.CRASHED,
        keys=(
            "(core dumped)",
            "exit status 0xc0000",
            "SIGSEGV",
            "signal: illegal instruction",
            "trap invalid opcode",
        ),
        regex=re.compile(
            r"\(core dumped\)|exit status 0xc0000\w+|SIGSEGV|signal: illegal instruction"
            r"|trap invalid opcode"
        ),
        samples=(
            Sample(build="bash", line="Aborted (core dumped)"),
            Sample(
                build="ollama 2025 (source, llm/server.go)",
                line="Error: llama runner process has terminated: exit status 0xc0000409",
            ),
            Sample(
                build="ollama 2023-12 (public report)",
                line="Error: llama runner process has terminated: signal: illegal instruction "
                "(core dumped)",
            ),
            Sample(
                build="Linux kernel",
                line="kernel: [1728595.660950] traps: python3[213941] trap invalid opcode "
                "ip:7f4aa44a4e94 sp:7ffceec92e60 error:0 in libllama.so[7f4aa448a000+9f000]",
            ),
        ),
    ),
)
