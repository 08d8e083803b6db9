"""llama.cpp: memory refused by SYCL, OpenCL and CUDA in ways of their own."""

import re

from app.core.log import Fact, Pattern, Sample
from app.logs.figures import mib_to_bytes, size_to_bytes

PATTERNS = (
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("Bytes of memory on device",),
        regex=re.compile(r"can't allocate (?P<n_bytes>\d+) Bytes of memory on device"),
        types={"n_bytes": int},
        samples=(
            Sample(
                build="2025-05 (source, ggml-sycl.cpp)",
                line="ggml_backend_sycl_buffer_type_alloc_buffer: can't allocate 4616889344 Bytes "
                "of memory on device",
                values={"n_bytes": 4616889344},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("UR_RESULT_ERROR_OUT_OF_", "CUBLAS_STATUS_NOT_INITIALIZED"),
        regex=re.compile(r"UR_RESULT_ERROR_OUT_OF_\w+|CUBLAS_STATUS_NOT_INITIALIZED"),
        samples=(
            Sample(
                build="public issue (SYCL)",
                line="Native API failed. Native API returns: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)",
            ),
        ),
    ),
    Pattern(
        fact=Fact.MEMORY_PRESSURE,
        keys=("using host memory fallback",),
        regex=re.compile(r"device alloc of \d+ bytes failed, using host memory fallback"),
        samples=(
            Sample(
                build="2026-03 (source, ggml-sycl.cpp)",
                line="device alloc of 4616889344 bytes failed, using host memory fallback",
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("Consider reducing -ngl",),
        regex=re.compile(r"failed to allocate (?P<n_bytes>[\d.]+) MiB \(err=-?\d+\)"),
        types={"n_bytes": mib_to_bytes},
        samples=(
            Sample(
                build="11434 (source, ggml-opencl.cpp)",
                line="ggml_opencl: failed to allocate 4403.00 MiB (err=-61). Consider reducing "
                "-ngl, context or batch",
                values={"n_bytes": 4403 * 1024 * 1024},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_MEMORY,
        keys=("CUDA out of memory. Tried to allocate ", "out of memory. Tried to allocate "),
        regex=re.compile(
            r"out of memory\. Tried to allocate (?P<n_bytes>\d+(?:\.\d+)? [KMG]iB)"
            r"(?:\. GPU (?P<index>\d+))?"
        ),
        types={"n_bytes": size_to_bytes, "index": int},
        samples=(
            Sample(
                build="PyTorch 2.6",
                line="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. "
                "GPU 0 has a total capacity of 23.64 GiB of which 1.05 GiB is free.",
                values={"n_bytes": round(1.96 * 1024**3), "index": 0},
            ),
        ),
    ),
)
