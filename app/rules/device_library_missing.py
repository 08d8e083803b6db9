"""The build is made for a GPU, but its library for it did not load.

What: the program knows GPUs, and the file that computes on them, or the driver below it, is
missing, too old or damaged. A plan (`ollama ps`) may still say GPU: the runner cannot follow it.
Evidence: the driver's reason when the backend starts; or the runner's list of what it computes
with names only the CPU, after libraries beside the program failed to load, on a computer with a
GPU. A library that does not suit the processor fails normally: that line alone says nothing.
Arithmetic: none.
Fix: what the reason names (restart, driver), else the installation of the runtime again.
Proof: the next log names the GPU's backend. Sources: advice.md part 3 row "GPU build, library
missing"; ggml/src/ggml-backend-reg.cpp and ggml-cuda.cu in llama.cpp, build 11434; users.md row 1.
"""

from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import seen

_GPU_BACKENDS = ("CUDA", "ROCm", "HIP", "Vulkan", "Metal", "SYCL", "MTL")
_MOST_CITED = 3
# what CUDA says while the driver's kernel part and its library are of two versions (803, 804)
_AFTER_UPDATE = ("mismatch", "unknown error", "forward compatibility", "driver combination")


def check(evidence: Evidence) -> Finding | None:
    """Find a driver's refusal, or a runner that computes on the processor only."""
    warning = evidence.log.last(Fact.NO_GPU_WARNING) if evidence.log else None
    if warning is not None and "reason" in warning.values:
        return _refused(warning)
    runner = _cpu_only_runner(evidence)
    failed = evidence.log.all(Fact.BACKEND_FAILED) if evidence.log else ()
    names = seen.gpu_names(evidence)
    if runner is None or not failed or not names:
        return None
    return Finding(
        cause="Nothing runs on the GPU: the program found no library of its own for it, and "
        f"computes on the processor only. This computer has: {', '.join(names)}. What the "
        "program planned before does not count.",
        cites=(
            seen.cite(runner),
            *(seen.cite(event) for event in failed[:_MOST_CITED]),
            *(Cite(f"this computer has: {name}", source="hardware") for name in names),
        ),
        fix=Fix(
            "Reinstall the runtime: remove it fully, then install it again. Then check that its "
            "library folder holds the file for this GPU (for NVIDIA: ggml-cuda), and that the "
            "next log names CUDA, ROCm or Vulkan in its line “system info”."
        ),
        proof="The line “system info” names the GPU's backend, and memory on the GPU is used.",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    loaded = evidence.log.last(Fact.BACKEND_LOADED) if evidence.log else None
    if loaded is not None:
        return f"the library for {loaded.word('backend')} was loaded"
    return "no library for a GPU failed to load"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the program's start"


def _cpu_only_runner(evidence: Evidence) -> LogEvent | None:
    info = evidence.log.last(Fact.SYSTEM_INFO) if evidence.log else None
    if evidence.log is None or info is None:
        return None
    said = str(info.values.get("features", ""))
    loaded = [event.word("backend") for event in evidence.log.all(Fact.BACKEND_LOADED)]
    words = (said, *loaded)
    has_gpu = any(name in word for name in _GPU_BACKENDS for word in words)
    return None if has_gpu or not said.startswith("CPU") else info


def _refused(warning: LogEvent) -> Finding:
    reason = warning.word("reason")
    if "insufficient" in reason:
        fix = "Install a newer driver of the GPU: this one is older than the program needs."
    elif any(word in reason.lower() for word in _AFTER_UPDATE):
        fix = "Restart the computer: after an update the old driver is often still loaded."
    else:
        fix = "Check that the GPU's driver works (nvidia-smi or rocminfo), then start it again."
    if "undefined symbol" in reason:
        fix = "Install a newer driver of the GPU: this one lacks a function that the program needs."
    if "file not found" in reason:
        return Finding(
            cause=f"Nothing runs on the GPU: {reason}. The program computes on the processor "
            "instead.",
            cites=(seen.cite(warning),),
            fix=Fix(
                "Take the program's normal build, which holds the library for your GPU (for NVIDIA "
                "the CUDA one), and choose that backend when it starts."
            ),
            proof="The line is gone, and the device list names the GPU.",
        )
    return Finding(
        cause=f"The build can use a GPU, but the driver refuses: {reason}.",
        cites=(seen.cite(warning),),
        fix=Fix(fix),
        proof="The line is gone, and the device list names the GPU.",
        certainty=Certainty.LIKELY,
        title="The driver refuses the program",
    )


RULE = Rule(
    id="device-library-missing",
    title="The program's library for the GPU is missing",
    check=check,
    silent=silent,
    needs=needs,
)
