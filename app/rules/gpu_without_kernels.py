"""The compute library has no code for this GPU, so the program aborts at its first use.

What: rocBLAS ships kernels for a list of AMD GPUs; integrated ones are often not among them.
Evidence: the library's error, which names the GPU's architecture.
Arithmetic: none.
Fix: Vulkan for this GPU, or the other card by HIP_VISIBLE_DEVICES. Never an override of the
architecture: a wrong one crashes or computes nonsense.
Proof: the error is gone and a device holds weights.
Sources: advice.md claims 50 and 52; ROCm legacy-rocm-build issue 3015.
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Finding, Fix, Rule
from app.rules import command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find the library's error about a GPU it has no code for."""
    line = evidence.log.last(Fact.GPU_NO_KERNELS) if evidence.log else None
    if line is None:
        return None
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


def silent(_evidence: Evidence) -> str:
    """Say nothing: only ROCm's library prints this error."""
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
