"""The program has no code for this GPU, so it aborts at its first use, or leaves the GPU out.

What: rocBLAS ships kernels for a list of AMD GPUs; integrated ones are often not among them. CUDA
builds hold code for a list of compute capabilities; new cards and very old ones may be missing.
Evidence: the error that says so: rocBLAS's with the architecture, CUDA's "no kernel image", an
"invalid device function", code that the driver cannot read, or Ollama's "CUDA GPU is too old".
Arithmetic: none.
Fix: AMD: Vulkan for this GPU, or the other card by HIP_VISIBLE_DEVICES. Never an override of the
architecture: a wrong one crashes or computes nonsense. NVIDIA: another build of the program.
Proof: the error is gone and a device holds weights.
Sources: advice.md claims 50 and 52; ROCm legacy-rocm-build issue 3015; Ollama issues 1992 and 12316
(mended by the next version); llama.cpp issue 4215.
"""

from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, seen

# CUDA_ERROR_INVALID_IMAGE and CUDA_ERROR_UNSUPPORTED_PTX_VERSION, cuda.h
_UNREADABLE = ("kernel image is invalid", "unsupported toolchain")
# "does not exist or is not compiled for the proper device architecture", says driver_types.h of
# cudaErrorInvalidDeviceFunction; hip_runtime_api.h words hipErrorInvalidDeviceFunction alike
_NO_FUNCTION = "invalid device function"


def check(evidence: Evidence) -> Finding | None:
    """Find the library's error about a GPU it has no code for."""
    line = evidence.log.last(Fact.GPU_NO_KERNELS) if evidence.log else None
    if line is None:
        return None
    if any(words in line.text for words in _UNREADABLE):
        return _unreadable(evidence, line)
    if _NO_FUNCTION in line.text:
        return _no_function(evidence, line)
    if "arch" not in line.values:
        return _cuda(evidence, line)
    arch = line.word("arch")
    return Finding(
        cause=f"ROCm is there, but its library rocBLAS has no code for this GPU ({arch}). The "
        "program ends when it first uses it.",
        cites=(seen.cite(line),),
        fix=Fix(
            f"Use the Vulkan build of the program for {arch}. If another, supported AMD card is "
            "in the computer, let ROCm see only that one: HIP_VISIBLE_DEVICES with its number.",
            command.list_devices(evidence),
        ),
        proof="The error is gone, and a model buffer on the device is above 0 MiB.",
    )


def _unreadable(evidence: Evidence, line: LogEvent) -> Finding:
    """Tell of code that the driver cannot read: it is older than the code, or the build is odd."""
    return Finding(
        cause="The driver cannot read this build's CUDA code for this GPU. Most often the driver "
        "is older than the build needs.",
        cites=(seen.cite(line),),
        fix=Fix(
            "Install a newer driver of the GPU. If it is the newest, take another build of the "
            "program: the version before, or Vulkan.",
            command.list_devices(evidence),
        ),
        proof="The error is gone, and a model buffer on the device is above 0 MiB.",
        certainty=Certainty.LIKELY,
    )


def _no_function(evidence: Evidence, line: LogEvent) -> Finding:
    """Tell of a function that was not compiled for the card that should compute it."""
    return Finding(
        cause="The program asked a GPU for code that was not compiled for its architecture. It "
        "ends when it first computes there.",
        cites=(seen.cite(line), *seen.list_cites(evidence)),
        fix=Fix(
            "With two GPUs, one of them in the processor, let the program see only the other "
            "one: HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES with its number. Else install a "
            "build for this card's architecture, or compile one, or take the Vulkan build.",
            command.list_devices(evidence),
        ),
        proof="The error is gone, and a model buffer on the device is above 0 MiB.",
        certainty=Certainty.LIKELY,
    )


def _cuda(evidence: Evidence, line: LogEvent) -> Finding:
    capability = line.values.get("capability")
    of = f" (compute capability {capability})" if capability else ""
    names = ", ".join(seen.gpu_names(evidence))
    program = "Ollama" if seen.runtime(evidence) == "ollama" else "the program"
    return Finding(
        cause=f"This build holds no CUDA code for this GPU{of}{f': {names}' if names else ''}. It "
        "was made for newer cards or for older ones.",
        cites=(seen.cite(line),),
        fix=Fix(
            f"Install another build: the newest version of {program} first, else the one before "
            "the fault began. Where none has code for this GPU, its Vulkan build works too.",
            command.list_devices(evidence),
        ),
        proof="The error is gone, and a model buffer on the device is above 0 MiB.",
    )


def silent(_evidence: Evidence) -> str:
    """Say nothing: such an error is plain where it happens."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the program's start"


RULE = Rule(
    id="gpu-without-kernels",
    title="The library has no code for this GPU",
    check=check,
    silent=silent,
    needs=needs,
)
