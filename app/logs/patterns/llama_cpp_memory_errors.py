"""llama.cpp: memory was refused. A backend that retries is no error (see the harmless lines)."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import always, mib_to_bytes

PATTERNS = (
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("insufficient memory",),
        # ggml.c prints MB and means 1048576 bytes
        regex=re.compile(r"insufficient memory \(attempted to allocate +(?P<n_bytes>[\d.]+) MB\)"),
        types={"n_bytes": mib_to_bytes},
        samples=(
            Sample(
                build="11434",
                line="0.06.875.001 E ggml_aligned_malloc: insufficient memory "
                "(attempted to allocate 117187.50 MB)",
                values={"n_bytes": 122880000000},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("buffer of size ",),
        regex=re.compile(
            r"failed to allocate (?:(?P<buffer>\S.*?) )?buffer of size (?P<n_bytes>\d+)\b(?!\.)"
        ),
        types={"n_bytes": int},
        samples=(
            Sample(
                build="11434",
                line="ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of "
                "size 122880000000",
                values={"n_bytes": 122880000000},
            ),
            Sample(
                build="10434",
                line="0.01.000.000 E alloc_tensor_range: failed to allocate Vulkan0 buffer of "
                "size 201326592",
                values={"buffer": "Vulkan0", "n_bytes": 201326592},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("memory allocation of size ",),
        regex=re.compile(r"ggml_vulkan: \w+ memory allocation of size (?P<n_bytes>\d+) failed"),
        types={"n_bytes": int},
        samples=(
            Sample(
                build="10434",
                line="ggml_vulkan: Device memory allocation of size 201326592 failed.",
                values={"n_bytes": 201326592},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("Requested buffer size exceeds", "ErrorOutOfDeviceMemory", "ErrorOutOfHostMemory"),
        regex=re.compile(
            r"(?P<limit>Requested buffer size exceeds device "
            r"(?:memory allocation limit|buffer size limit))|ErrorOutOf(?:Device|Host)Memory"
        ),
        samples=(
            Sample(
                build="10434",
                line="ggml_vulkan: Requested buffer size exceeds device buffer size limit: "
                "ErrorOutOfDeviceMemory",
                values={"limit": "Requested buffer size exceeds device buffer size limit"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("cudaMalloc failed: ", "hipMalloc failed: "),
        regex=re.compile(
            r"allocating (?P<n_bytes>[\d.]+) MiB on device (?P<index>\d+): "
            r"(?:cuda|hip)Malloc failed: out of memory"
        ),
        types={"n_bytes": mib_to_bytes, "index": int},
        samples=(
            Sample(
                build="11434 (source, ggml-cuda.cu)",
                line="ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4403.00 MiB on "
                "device 0: cudaMalloc failed: out of memory",
                values={"n_bytes": 4403 * 1024 * 1024, "index": 0},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=(
            "CUDA error",
            "ROCm error",
            "CUBLAS_STATUS_ALLOC_FAILED",
            "std::bad_alloc",
            "OutOfMemory",
            "OutOfMemoryError",
            "failed to allocate Metal buffer",
        ),
        regex=re.compile(
            r"(?:CUDA|ROCm) error(?: \d+ at \S+)?: out of memory|CUBLAS_STATUS_ALLOC_FAILED"
            r"|std::bad_alloc|kIOGPUCommandBufferCallbackErrorOutOfMemory"
            r"|failed to allocate Metal buffer of \d+ bytes|torch\.OutOfMemoryError"
        ),
        samples=(
            Sample(build="11434 (source, ggml-cuda.cu)", line="CUDA error: out of memory"),
            Sample(
                build="public issue (Metal)",
                line="error: Insufficient Memory "
                "(00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("error: failed to allocate buffer, size = ",),
        regex=re.compile(r"error: failed to allocate buffer, size = +(?P<n_bytes>[\d.]+) MiB"),
        types={"n_bytes": mib_to_bytes},
        samples=(
            Sample(
                build="11434 (source, ggml-metal-device.m)",
                line="ggml_metal_buffer_init: error: failed to allocate buffer, "
                "size =  4403.00 MiB",
                values={"n_bytes": 4403 * 1024 * 1024},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("failed to allocate buffer for kv cache", "failed to allocate compute "),
        regex=re.compile(
            r"failed to allocate (?:buffer for )?"
            r"(?P<part>kv(?= cache)|compute(?=(?: pp| tg)? buffers))"
        ),
        samples=(
            Sample(
                build="11434",
                line="llama_init_from_model: failed to initialize the context: "
                "failed to allocate buffer for kv cache",
                values={"part": "kv"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("unable to allocate ",),
        regex=re.compile(r"(?P<part>unable to allocate) (?P<buffer>\S.*?) buffer"),
        types={"part": always("weights")},
        samples=(
            Sample(
                build="11434 (source, src/llama-model.cpp)",
                line="llama_model_load: error loading model: unable to allocate CUDA0 buffer",
                values={"part": "weights", "buffer": "CUDA0"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("that cannot run the operation",),
        # one tensor of the cache is larger than the device's buffer range: the context is too long
        regex=re.compile(
            r"(?P<part>pre-allocated tensor) \(cache_[kv]\w*\) in a buffer \((?P<buffer>.+?)\) "
            r"that cannot run the operation"
        ),
        types={"part": always("kv")},
        samples=(
            Sample(
                build="10434",
                line="ggml/src/ggml-backend.cpp:930: pre-allocated tensor (cache_k_l5) in a "
                "buffer (Vulkan0) that cannot run the operation (NONE)",
                values={"part": "kv", "buffer": "Vulkan0"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.MEMORY_PRESSURE,
        keys=("greater than the recommended max working set size",),
        regex=re.compile(
            r"(?:\( *(?P<used_mib>\d+\.\d+) / +(?P<limit_mib>\d+\.\d+)\).*?)?"
            r"greater than the recommended max working set size"
        ),
        types={"used_mib": float, "limit_mib": float},
        samples=(
            Sample(
                build="2023-12 (public report, ggml-metal.m)",
                line="ggml_metal_add_buffer: allocated 'data            ' buffer, size =  3241.14 "
                "MiB, offs =  16964780032, (19626.77 / 10922.67)ggml_metal_add_buffer: warning: "
                "current allocated size is greater than the recommended max working set size",
                values={"used_mib": 19626.77, "limit_mib": 10922.67},
            ),
            Sample(
                build="public issue (Metal)",
                line="ggml_metal_log_allocated_size: warning: current allocated size is greater "
                "than the recommended max working set size",
            ),
        ),
    ),
)
