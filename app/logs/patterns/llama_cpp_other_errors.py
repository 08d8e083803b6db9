"""llama.cpp: flags, network, aborts, and the lines that only repeat an error."""

import re

from app.core.log import Fact, Pattern, Sample

PATTERNS = (
    Pattern(
        fact=Fact.ERROR_ARGUMENT,
        keys=("error: invalid argument", "error: unknown argument"),
        regex=re.compile(r"error: (?:invalid|unknown) argument: (?P<flag>\S+)"),
        samples=(
            Sample(
                build="11434",
                line="error: invalid argument: --mlock",
                values={"flag": "--mlock"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_NETWORK,
        keys=("couldn't bind ", "Failed to connect to ", "(bytes_", "Remote RPC server crashed"),
        regex=re.compile(
            r"couldn't bind HTTP server socket(?:.*?port: (?P<port>\d+))?"
            r"|Failed to connect to (?P<endpoint>[\w.\-:\[\]]+)"
            r"|(?P<lost>(?:recv|send) failed \(bytes_(?:recv|sent)=|Remote RPC server crashed)"
        ),
        types={"port": int},
        samples=(
            Sample(
                build="11434",
                line="0.00.012.410 E srv         start: couldn't bind HTTP server socket, "
                "hostname: 127.0.0.1, port: 52230",
                values={"port": 52230},
            ),
            Sample(
                build="11434",
                line="ggml/src/ggml-rpc/ggml-rpc.cpp:547: Failed to connect to 127.0.0.1:52249",
                values={"endpoint": "127.0.0.1:52249"},
            ),
            Sample(
                build="11434 (source, ggml/src/ggml-rpc/transport.cpp)",
                line="recv failed (bytes_recv=0, size_to_recv=8)",
                values={"lost": "recv failed (bytes_recv="},
            ),
            Sample(
                build="11434 (source, ggml/src/ggml-rpc/ggml-rpc.cpp)",
                line="ggml-rpc.cpp:500: Remote RPC server crashed or returned malformed response",
                values={"lost": "Remote RPC server crashed"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_OTHER,
        keys=(".cpp:", ".cu:", "ggml.c:", "alloc.c:", "-cpu.c:", "-context.m:", "-device.m:"),
        # GGML_ABORT and GGML_ASSERT print file:line: text, straight to stderr
        regex=re.compile(r"^\S*\.(?:cpp|cuh?|c|m|h):(?P<at>\d+): (?P<what>.+)"),
        types={"at": int},
        samples=(
            Sample(
                build="11434 (source, ggml/src/ggml.c)",
                line="/opt/llama/ggml/src/ggml-cuda/ggml-cuda.cu:109: CUDA error",
                values={"at": 109, "what": "CUDA error"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_OTHER,
        keys=("CUDA error: ", "ROCm error: ", "DeviceLost", "device lost on "),
        regex=re.compile(
            r"(?:CUDA|ROCm) error: (?!no kernel image|device kernel image|invalid device function"
            r"|the provided PTX)(?P<what>.+)"
            r"|ErrorDeviceLost|vk::DeviceLostError|ggml_vulkan: device lost on"
        ),
        samples=(
            Sample(
                build="11434 (source, ggml-cuda.cu)",
                line="CUDA error: an illegal memory access was encountered",
                values={"what": "an illegal memory access was encountered"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_OTHER,
        keys=("flash_attn",),
        regex=re.compile(
            r"(?:V cache quantization|quantized V cache)\b.*?\brequires .*?(?P<needs>flash_attn)"
        ),
        samples=(
            Sample(
                build="2025-08",
                line="llama_init_from_model: V cache quantization requires flash_attn",
                values={"needs": "flash_attn"},
            ),
            Sample(
                build="11434",
                line="0.00.575.849 E llama_init_from_model: quantized V cache requires flash_attn "
                "to be enabled",
                values={"needs": "flash_attn"},
            ),
        ),
    ),
    Pattern(
        fact=Fact.ERROR_CONSEQUENCE,
        keys=(
            "failed to load model",
            "failed to load draft model",
            "exiting due to ",
            "failed to create context",
            "failed to create_context",
            "unable to load model",
            "encountered an error while trying to fit",
            "Failed to load model",
        ),
        regex=re.compile(
            r"[Ff]ailed to load (?:draft )?model(?! from file pointer)|exiting due to "
            r"|failed to create[ _]context with model|unable to load model"
            r"|encountered an error while trying to fit params"
        ),
        samples=(
            Sample(
                build="11434",
                line="0.00.036.699 E common_fit_params: encountered an error while trying to fit "
                "params to free device memory: failed to load model",
            ),
            Sample(
                build="11434",
                line="0.00.042.447 E srv  llama_server: exiting due to model loading error",
            ),
            Sample(build="2023-09", line="main: error: unable to load model"),
        ),
    ),
)
