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
        fact=Fact.GPU_NO_KERNELS,
        keys=(
            "no kernel image is available",
            "device kernel image is invalid",
            "has no device code compatible with CUDA arch",
            "invalid device function",
            "compiled with an unsupported toolchain",
        ),
        regex=re.compile(
            r"CUDA error(?: \d+ at [^:]+:\d+)?: no kernel image is available"
            r"|CUDA error: device kernel image is invalid"
            r"|(?:CUDA|ROCm) error(?: \d+ at [^:]+:\d+)?: (?:\S+:\d+: )?invalid device function"
            r"|CUDA error(?: \d+ at [^:]+:\d+)?: the provided PTX was compiled with an unsupported"
            r"|has no device code compatible with CUDA arch (?P<built>\d+)"
        ),
        samples=(
            Sample(
                build="ollama 0.11.11 (public report)",
                line="CUDA error: no kernel image is available for execution on the device",
            ),
            Sample(
                build="llama-cpp-python 0.2.88 (public report)",
                line="ERROR: CUDA kernel flash_attn_tile_ext_f16 has no device code compatible "
                "with CUDA arch 520. ggml-cuda.cu was compiled for: 520",
                values={"built": "520"},
            ),
            Sample(
                build="8821 (public report)",
                line="ROCm error: invalid device function",
            ),
            Sample(
                build="583 (public report)",
                line="CUDA error 222 at ggml-cuda.cu:420: the provided PTX was compiled with an "
                "unsupported toolchain.",
            ),
        ),
    ),
    Pattern(
        fact=Fact.GPU_NO_KERNELS,
        keys=("CUDA GPU is too old. ",),
        regex=re.compile(
            r"CUDA GPU is too old\..*Compute Capability detected: (?P<capability>\d+\.\d+)"
        ),
        samples=(
            Sample(
                build="ollama 0.1.20 (public report)",
                line="2024/01/14 19:50:06 gpu.go:138: CUDA GPU is too old. Falling back to CPU "
                "mode. Compute Capability detected: 5.2",
                values={"capability": "5.2"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.GPU_FORBIDDEN,
        keys=("/dev/kfd", "/dev/dri/", "/dev/nvidia"),
        regex=re.compile(
            r"(?P<path>/dev/(?:kfd|dri/\w+|nvidia\w*))[^\n]*?[Pp]ermission denied"
            r"|[Pp]ermission denied[^\n]*?(?P<after>/dev/(?:kfd|dri/\w+|nvidia\w*))"
        ),
        samples=(
            Sample(
                build="ollama 0.3.11 (public report)",
                line="time=2024-09-10T21:53:24.695Z level=ERROR source=amd_linux.go:364 "
                'msg="amdgpu devices detected but permission problems block access" '
                'error="permissions not set up properly.  Either run ollama as root, or add you '
                'user account to the render group. open /dev/kfd: permission denied"',
                values={"path": "/dev/kfd"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.NO_GPU_WARNING,
        keys=("no nvidia devices detected",),
        regex=re.compile(r'msg="(?P<reason>no nvidia devices detected)"'),
        samples=(
            Sample(
                build="ollama 0.3.10 (public report)",
                line="time=2024-09-17T15:04:08.215Z level=INFO source=gpu.go:560 "
                'msg="no nvidia devices detected" '
                "library=/usr/lib/x86_64-linux-gnu/libcuda.so.550.107.02",
                values={"reason": "no nvidia devices detected"},
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
