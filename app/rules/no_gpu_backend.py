"""The program has no GPU device: a build for the processor, or a library that did not load.

What: the program lists no device, so nothing can be offloaded.
Evidence: the device list holds only the CPU (or "(none)"), and either the computer has a GPU, or
layers were asked for. The missing warning "no usable GPU found" proves nothing: a build with RPC
never prints it, and a router prints it beside the devices that it lists (llama.cpp issue 22748). A
computer without a GPU is a normal result, not a fault.
Arithmetic: none.
Fix: the runtime's build for that GPU. Proof: the device is listed.
Sources: logs.md section 0 rules 1 and 2; advice.md part 3; arg.cpp in llama.cpp common/, build
11434; tests/data/logs/b11434-cpu-ngl99-lv4.log.
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.reading import State
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import (
    command,
    container_lost_gpu,
    device_hidden,
    device_library_missing,
    gpu_not_permitted,
    seen,
)


def check(evidence: Evidence) -> Finding | None:
    """Find a program without a device where one was expected, and nothing else explains it."""
    if _is_explained(evidence):
        return None
    warning = evidence.log.last(Fact.NO_GPU_WARNING) if evidence.log else None
    if warning is None and seen.devices(evidence) != ():
        return None
    if _listed_gpus(evidence):  # a router warns without need: its children use the device
        return None
    names = seen.gpu_names(evidence)
    if warning is None and not names and not _asked(evidence):
        return None
    cites = (
        *((seen.cite(warning),) if warning is not None else ()),
        *seen.list_cites(evidence),
        *(Cite(f"this computer has: {name}", source="hardware") for name in names),
    )
    return Finding(
        cause="Nothing can run on a GPU: this build of the program finds no GPU device."
        + (f" This computer has: {', '.join(names)}." if names else ""),
        cites=cites or (_list_cite(evidence),),
        fix=_fix(evidence, names),
        proof="The device list names the GPU, and a model buffer on it is above 0 MiB.",
        certainty=Certainty.PROVEN
        if (names or warning is not None) and not _is_inside(evidence)
        else Certainty.LIKELY,
    )


def _is_explained(evidence: Evidence) -> bool:
    """Tell whether the driver, its rights or a container keep the device from the program."""
    # a container without a GPU does not tell what the program was built for: both can hold
    others = (gpu_not_permitted, device_hidden, container_lost_gpu, device_library_missing)
    return any(other.check(evidence) is not None for other in others)


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if _is_explained(evidence):
        return "the program has a backend for it: the driver, its rights or a container refuse it"
    found = seen.devices(evidence)
    names = tuple(device.name for device in found or ()) or _listed_gpus(evidence)
    if names:
        return f"the program lists {', '.join(names)}"
    return "the hardware check lists no GPU here and none was asked for, so the processor is right"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    found = seen.devices(evidence)
    if found is None:
        return "no program listed its devices"
    if found == () and evidence.machine is None:
        return (
            "the program lists no GPU device; whether this computer has a GPU is not known "
            "from a log alone"
        )
    count = evidence.machine.fact("gpu.count") if evidence.machine and found == () else None
    if count is not None and count.reading.state not in (State.KNOWN, State.ABSENT):
        return f"whether this computer has a GPU could not be read: {count.reading.reason}"
    return ""


def _listed_gpus(evidence: Evidence) -> tuple[str, ...]:
    events = evidence.log.all(Fact.DEVICE_LISTED) if evidence.log is not None else ()
    names = dict.fromkeys(event.word("device") for event in events)
    return tuple(name for name in names if not name.startswith("CPU"))


def _is_inside(evidence: Evidence) -> bool:
    """Tell a container: what it was given may be missing, not what the program was built for."""
    return evidence.machine is not None and bool(evidence.machine.text("os.container"))


def _asked(evidence: Evidence) -> bool:
    request = evidence.request
    return request is not None and bool(request.ngl and request.ngl > 0) and request.use_devices


def _list_cite(evidence: Evidence) -> Cite:
    source = evidence.machine.devices_source if evidence.machine else ""
    return Cite("devices: (none)", source=source or "device list")


def _fix(evidence: Evidence, names: tuple[str, ...]) -> Fix:
    if _is_inside(evidence):
        return Fix(
            "Start the container with the GPU: for NVIDIA --gpus all, for AMD the devices "
            "/dev/kfd and /dev/dri. If it has them, take the image that is made for this GPU."
        )
    if seen.runtime(evidence) == "ollama":
        return Fix(
            "If this computer has a GPU: check that its driver answers (nvidia-smi or "
            "rocminfo). Then start Ollama again. It brings the libraries for all GPUs itself."
        )
    if not names:
        return Fix(
            "If this computer has a GPU, install the build of the program that is made for it, "
            "then look for a model buffer on the device. If it has none, remove -ngl: running on "
            "the processor is then normal.",
            command.list_devices(evidence),
        )
    maker = " ".join(names).lower()
    if any(word in maker for word in ("nvidia", "geforce", "rtx", "gtx", "quadro", "tesla")):
        build = "the CUDA build"
    elif any(word in maker for word in ("amd", "radeon", "instinct")):
        build = "the Vulkan or ROCm build"
    elif "apple" in maker:
        build = "the macOS build (Metal)"
    else:
        build = "the Vulkan build"
    return Fix(
        f"Install {build} of the program, then look at its device list.",
        command.list_devices(evidence),
    )


RULE = Rule(
    id="no-gpu-backend",
    title="The program has no GPU device",
    check=check,
    silent=silent,
    needs=needs,
)
