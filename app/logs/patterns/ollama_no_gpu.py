"""Ollama: why its search for a GPU ends without one."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.GPU_LOST,
        keys=("device memory info lookup failure", "cuda driver library failed to get device"),
        regex=re.compile(
            r"device memory info lookup failure|cuda driver library failed to get device context"
        ),
        samples=(
            Sample(
                build="ollama 0.1.31 (ollama/ollama issue 3647)",
                line="time=2024-04-15T09:17:48.617Z level=INFO source=gpu.go:109 "
                'msg="error looking up CUDA GPU memory: device memory info lookup failure 0: 4"',
            ),
            Sample(
                build="ollama 0.9 (ollama/ollama pull request 11090)",
                line="cuda driver library failed to get device context 2",
            ),
        ),
    ),
    Pattern(
        fact=Fact.NO_GPU_WARNING,
        keys=("Unable to load nvcuda",),
        regex=re.compile(r"Unable to load nvcuda.* (?P<reason>undefined symbol: \w+)"),
        samples=(
            Sample(
                build="ollama 0.1.40 (ollama/ollama issue 5493)",
                line="time=2024-07-04T17:13:20.135+08:00 level=DEBUG source=gpu.go:385 "
                'msg="Unable to load nvcuda" library=/usr/lib64/libcuda.so.418.74 '
                'error="symbol lookup for cuCtxCreate_v3 failed: '
                '/usr/lib64/libcuda.so.418.74: undefined symbol: cuCtxCreate_v3"',
                values={"reason": "undefined symbol: cuCtxCreate_v3"},
            ),
        ),
    ),
)
