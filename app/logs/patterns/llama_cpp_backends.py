"""llama.cpp and its wrappers: libraries and GPUs that a program cannot use, and why."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.BACKEND_FAILED,
        keys=("ggml_backend_load_best: failed to load ",),
        regex=re.compile(r"ggml_backend_load_best: failed to load (?P<file>.+)"),
        samples=(
            Sample(
                build="ollama 2025-03",
                line=r"ggml_backend_load_best: failed to load <path>\lib\ollama"
                r"\ggml-cpu-haswell.dll",
                values={"file": r"<path>\lib\ollama\ggml-cpu-haswell.dll"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GPU_NO_KERNELS,
        keys=("rocBLAS error: Cannot read ",),
        regex=re.compile(
            r"rocBLAS error: Cannot read \S+TensileLibrary.*for GPU arch : (?P<arch>gfx\w+)"
        ),
        samples=(
            Sample(
                build="ROCm 6.0.0",
                line="rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat:"
                " No such file or directory for GPU arch : gfx1036",
                values={"arch": "gfx1036"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GPU_LOST,
        keys=("Failed to initialize NVML: Unknown Error",),
        regex=re.compile(r"Failed to initialize NVML: Unknown Error"),
        samples=(Sample(build="nvidia-smi 2024", line="Failed to initialize NVML: Unknown Error"),),
    ),
    Pattern(
        fact=Fact.NO_GPU_WARNING,
        keys=("Failed to initialize NVML: Driver/library version mismatch",),
        regex=re.compile(r"Failed to initialize NVML: (?P<reason>Driver/library version mismatch)"),
        samples=(
            Sample(
                build="nvidia-smi after an update of the driver",
                line="Failed to initialize NVML: Driver/library version mismatch",
                values={"reason": "Driver/library version mismatch"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.PROJECTOR_MEMORY,
        keys=(
            "estimated memory usage of mmproj is ",
            "estimated worst-case memory usage of mmproj",
        ),
        regex=re.compile(
            r"estimated (?:worst-case )?memory usage of mmproj is (?P<mib>[\d.]+) MiB"
        ),
        types={"mib": float},
        samples=(
            Sample(
                build="2026-04 (pull request 21489)",
                line="srv    load_model: [mtmd] estimated memory usage of mmproj is 2447.80 MiB",
                values={"mib": 2447.8},
            ),
        ),
    ),
    Pattern(
        fact=Fact.KV_CONVERTED,
        keys=("no FlashAttention vector kernel compiled for K/V types",),
        regex=re.compile(r"no FlashAttention vector kernel compiled for K/V types"),
        samples=(
            Sample(
                build="11434 (source, ggml/src/ggml-cuda/fattn.cu)",
                line="W ggml_cuda_flash_attn_ext: no FlashAttention vector kernel compiled for "
                "K/V types q5_1/q5_1",
            ),
        ),
    ),
)
