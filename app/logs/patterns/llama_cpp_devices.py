"""llama.cpp: the build, its verbosity, and the devices it sees and uses."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import decimal_mb, numbered

PATTERNS = (
    Pattern(
        fact=Fact.BUILD,
        keys=(": build ", "build: ", "build_info: b", "build = "),
        regex=re.compile(
            r"(?:\bbuild:? |build_info: b|main: build = )(?P<number>\d+)(?: \(|-)(?P<commit>\w+)\)?"
            r"(?= with |\s*$)"
        ),
        types={"number": int},
        samples=(
            Sample(
                build="10434",
                line="0.00.302.689 I cmn  common_param: common_params_print_info: "
                "build 1 (7e4c0a9) with GNU 11.4.0 for Linux x86_64",
                values={"number": 1, "commit": "7e4c0a9"},
            ),
            Sample(
                build="7079",
                line="build: 7079 (416e7c7f4) with cc (GCC) 10.2.1 20210130 "
                "(Red Hat 10.2.1-11) for x86_64-redhat-linux",
                values={"number": 7079, "commit": "416e7c7f4"},
            ),
            Sample(
                build="8672",
                line="build_info: b0-unknown",
                values={"number": 0, "commit": "unknown"},
            ),
            Sample(
                build="2024-02",
                line="main: build = 0 (unknown)",
                values={"number": 0, "commit": "unknown"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.BUILD,
        keys=("version: ",),
        regex=re.compile(r"version: \S+ \((?:build )?(?P<number>\d+), commit (?P<commit>\w+)\)"),
        types={"number": int},
        samples=(
            Sample(
                build="11434",
                line="version: 0.6.0-dev (build 0, commit unknown)",
                values={"number": 0, "commit": "unknown"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.VERBOSITY,
        keys=("verbosity = ",),
        regex=re.compile(r"verbosity = (?P<level>\d+) \(adjust"),
        types={"level": int},
        samples=(
            Sample(
                build="11434",
                line="0.00.027.154 I cmn  common_param: common_params_print_info: "
                "verbosity = 3 (adjust with the `-lv N` CLI arg)",
                values={"level": 3},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        keys=(" MiB free)",),
        regex=re.compile(
            r"(?:- |^\s+)(?P<device>[A-Za-z]\w*) *: (?P<description>.*) "
            r"\((?P<total_mib>\d+) MiB, (?P<free_mib>\d+) MiB free\)\s*$"
        ),
        types={"total_mib": int, "free_mib": int},
        samples=(
            Sample(
                build="10434",
                line="0.00.302.790 I cmn  common_param:   - Vulkan0 : "
                "llvmpipe (LLVM 15.0.6, 256 bits) (2048 MiB, 2048 MiB free)",
                values={
                    "device": "Vulkan0",
                    "description": "llvmpipe (LLVM 15.0.6, 256 bits)",
                    "total_mib": 2048,
                    "free_mib": 2048,
                },
            ),
            Sample(
                build="10434 --list-devices",
                line="  Vulkan0: llvmpipe (LLVM 15.0.6, 256 bits) (2048 MiB, 2048 MiB free)",
                values={
                    "device": "Vulkan0",
                    "description": "llvmpipe (LLVM 15.0.6, 256 bits)",
                    "total_mib": 2048,
                    "free_mib": 2048,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,
        # b3889 names its Vulkan device in a list of its own, and its buffers after the card
        keys=(" | uma: ",),
        regex=re.compile(r"(?P<device>Vulkan\d+): (?P<description>.*?) \| uma: "),
        samples=(
            Sample(
                build="3889",
                line="Vulkan0: llvmpipe (LLVM 15.0.6, 256 bits) (llvmpipe) "
                "| uma: 0 | fp16: 1 | warp size: 8",
                values={
                    "device": "Vulkan0",
                    "description": "llvmpipe (LLVM 15.0.6, 256 bits) (llvmpipe)",
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LISTED,  # debug level since 2024-12
        keys=(" | uma: ",),
        regex=re.compile(
            r"ggml_vulkan: (?P<device>\d+) = (?P<description>.*?) \| uma: (?P<uma>[01])"
        ),
        types={"device": numbered("Vulkan"), "uma": int},
        samples=(
            Sample(
                build="11434 (source, ggml-vulkan.cpp)",
                line="ggml_vulkan: 0 = AMD Radeon 780M (RADV PHOENIX) (radv) | uma: 1 | fp16: 1 "
                "| warp size: 64 | shared memory: 65536 | int dot: 1 | matrix cores: KHR_coopmat",
                values={
                    "device": "Vulkan0",
                    "description": "AMD Radeon 780M (RADV PHOENIX) (radv)",
                    "uma": 1,
                },
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_LIMIT,
        keys=("recommendedMaxWorkingSetSize",),
        regex=re.compile(r"recommendedMaxWorkingSetSize +=\s+(?P<n_bytes>[\d.]+) MB"),
        types={"n_bytes": decimal_mb},
        samples=(
            Sample(
                build="11434 (source, ggml-metal-device.m)",
                line="ggml_metal_device_init: recommendedMaxWorkingSetSize  = 22906.50 MB",
                values={"n_bytes": 22_906_500_000},
            ),
        ),
    ),
    Pattern(
        fact=Fact.DEVICE_USED,
        keys=("using device ",),
        regex=re.compile(
            r"using device (?P<device>\w+) \((?P<description>.*?)\)"
            r"(?: \((?:unknown id|[0-9a-fA-F:.]+)\))? - (?P<free_mib>\d+) MiB free"
        ),
        types={"free_mib": int},
        samples=(
            Sample(
                build="10434",
                line="0.05.660.395 I llama_prepare_model_devices: using device Vulkan0 "
                "(llvmpipe (LLVM 15.0.6, 256 bits)) (unknown id) - 2048 MiB free",
                values={
                    "device": "Vulkan0",
                    "description": "llvmpipe (LLVM 15.0.6, 256 bits)",
                    "free_mib": 2048,
                },
            ),
            Sample(
                build="11434",
                line="0.00.032.593 I llama_prepare_model_devices: using device RPC0 "
                "(127.0.0.1:52241) (unknown id) - 24105 MiB free",
                values={"device": "RPC0", "description": "127.0.0.1:52241", "free_mib": 24105},
            ),
        ),
    ),
    Pattern(
        fact=Fact.BACKEND_LOADED,
        keys=("load_backend: loaded ",),
        regex=re.compile(r"load_backend: loaded (?P<backend>\S+) backend from (?P<file>.+)"),
        samples=(
            Sample(
                build="11434 (source, ggml/src/ggml-backend-reg.cpp)",
                line="load_backend: loaded Vulkan backend from /opt/llama/libggml-vulkan.so",
                values={"backend": "Vulkan", "file": "/opt/llama/libggml-vulkan.so"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.NO_GPU_WARNING,
        keys=(
            "no usable GPU found",
            "not compiled with GPU offload",
            "No devices found",
            "failed to initialize ",
        ),
        regex=re.compile(
            r"no usable GPU found|not compiled with GPU offload support"
            r"|ggml_vulkan: No devices found"
            r"|_cuda_init: failed to initialize (?:CUDA|ROCm|MUSA): (?P<reason>.+)"
        ),
        samples=(
            Sample(
                build="11434 (source, common/arg.cpp)",
                line="warning: no usable GPU found, --gpu-layers option will be ignored",
            ),
            Sample(
                build="2024-02 (source, common/common.cpp)",
                line="warning: not compiled with GPU offload support, --n-gpu-layers option will "
                "be ignored",
            ),
            Sample(
                build="11434 (source, ggml-cuda.cu)",
                line="ggml_cuda_init: failed to initialize CUDA: "
                "no CUDA-capable device is detected",
                values={"reason": "no CUDA-capable device is detected"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.SOFTWARE_DEVICE,
        keys=("llvmpipe", "SwiftShader", "Device type is CPU"),
        regex=re.compile(
            r"using device \w+ \((?:llvmpipe|SwiftShader)|Device type is CPU"
            r"|Vulkan\d+ *: (?:llvmpipe|SwiftShader)"
        ),
        samples=(
            Sample(
                build="10434",
                line="0.05.660.395 I llama_prepare_model_devices: using device Vulkan0 "
                "(llvmpipe (LLVM 15.0.6, 256 bits)) (unknown id) - 2048 MiB free",
            ),
        ),
    ),
    Pattern(
        fact=Fact.SYSTEM_INFO,
        keys=("system_info: n_threads = ",),
        regex=re.compile(
            r"system_info: n_threads = (?P<threads>\d+)(?: \(n_threads_batch = (?P<batch>\d+)\))?"
            r" / (?P<cores>\d+) \| (?P<features>.*)"
        ),
        types={"threads": int, "batch": int, "cores": int},
        samples=(
            Sample(
                build="11434",
                line="system_info: n_threads = 1 (n_threads_batch = 1) / 2 | CPU : SSE3 = 1 "
                "| AVX2 = 1 | FMA = 1 | REPACK = 1 | ",
                values={
                    "threads": 1,
                    "batch": 1,
                    "cores": 2,
                    "features": "CPU : SSE3 = 1 | AVX2 = 1 | FMA = 1 | REPACK = 1 |",
                },
            ),
        ),
    ),
)
