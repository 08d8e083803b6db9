"""The GPU and its driver are there, but this user may not open it.

What: Linux gives the GPU's files (/dev/kfd, /dev/dri/renderD*, /dev/nvidia*) to a group. A service
or container that is not in it gets "permission denied", and computes on the processor.
Evidence: the program's line that names the file and the refusal.
Arithmetic: none.
Fix: the user into the group, then a new login; a container gets the group as well.
Proof: the line is gone, and the device is listed.
Sources: Ollama pull request 6736 and issue 6685; llama.cpp docs/build.md (HIP), build 11434;
users.md row 1; advice.md part 3 row "No GPU device".
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Finding, Fix, Rule
from app.rules import seen


def check(evidence: Evidence) -> Finding | None:
    """Find a refusal to open the GPU."""
    line = evidence.log.last(Fact.GPU_FORBIDDEN) if evidence.log is not None else None
    if line is None:
        return None
    path = str(line.values.get("path", line.values.get("after", "")))
    is_container = bool(evidence.machine is not None and evidence.machine.text("os.container"))
    groups = "video" if "nvidia" in path else "render and video"
    fix = (
        Fix(f"Start the container with the groups of the GPU ({groups}): --group-add for each.")
        if is_container
        else Fix(
            f"Add the user that runs the program to the groups {groups}, then log in again or "
            "restart the service.",
            "sudo usermod -aG video,render $USER",
        )
    )
    return Finding(
        cause=f"The GPU is there, and the program may not open it ({path}): permission denied. So "
        "it computes on the processor.",
        cites=(seen.cite(line),),
        fix=fix,
        proof="The line is gone, and the device list names the GPU.",
    )


def silent(_evidence: Evidence) -> str:
    """Say nothing: such a refusal is plain where it happens."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the program's start"


RULE = Rule(
    id="gpu-not-permitted",
    title="The program may not open the GPU",
    check=check,
    silent=silent,
    needs=needs,
)
