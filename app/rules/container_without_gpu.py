"""The program runs in a container or in WSL that was not given the GPU.

What: a container sees only the devices it was started with; WSL needs Windows' driver for it.
Evidence: a container or WSL without its GPU device, a program that lists no device, and layers
that were asked for, or the program's own warning.
Arithmetic: none.
Fix: start the container with the GPU; for WSL update Windows' driver.
Proof: the device is listed. Sources: hardware.md section 7 (/dev/dxg, /dev/kfd, --gpus all);
advice.md part 3 row "No GPU device", column "not when"; users.md row 11.
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import seen


def check(evidence: Evidence) -> Finding | None:
    """Find a container or WSL without a GPU, where one was wanted."""
    machine = evidence.machine
    warning = evidence.log.last(Fact.NO_GPU_WARNING) if evidence.log else None
    if machine is None or (warning is None and seen.devices(evidence) != ()):
        return None
    request = evidence.request
    is_wanted = warning is not None or (request is not None and (request.ngl or 0) > 0)
    has_wsl_gpu = machine.flag("os.wsl_gpu")
    is_container = bool(machine.text("os.container"))
    is_blind_wsl = bool(machine.flag("os.is_wsl")) and has_wsl_gpu is False
    if not is_wanted or seen.gpu_names(evidence) or not (is_container or is_blind_wsl):
        return None
    where = "container" if is_container else "WSL"
    fix = (
        "Start the container with the GPU: for NVIDIA --gpus all, for AMD the devices /dev/kfd and "
        "/dev/dri. A device cannot be added to one that runs."
        if is_container
        else "Update Windows' graphics driver, then WSL itself, and start it again."
    )
    return Finding(
        cause=f"The program runs in a {where} that sees no GPU. What it was built for does not "
        "matter until then.",
        cites=(
            *((seen.cite(warning),) if warning is not None else ()),
            *seen.fact_cites(evidence, "os.container", "os.is_wsl", "os.wsl_gpu"),
        ),
        fix=Fix(fix, "" if is_container else "wsl --update"),
        proof="The program lists the GPU.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    machine = evidence.machine
    is_inside = machine is not None and bool(
        machine.text("os.container") or machine.flag("os.is_wsl")
    )
    if not is_inside:
        return ""
    return "the GPU is seen inside" if seen.gpu_names(evidence) else "no GPU was asked for"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.machine is not None else "whether this is a container is not known"


RULE = Rule(
    id="container-without-gpu",
    title="The container was not given the GPU",
    check=check,
    silent=silent,
    needs=needs,
)
