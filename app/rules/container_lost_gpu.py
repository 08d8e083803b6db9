"""A container lost its GPU: the driver answered at first, and does not any more.

What: the system took the device's permission away from a running container (systemd reloads its
units, and with the cgroup driver "systemd" the container's device list is written again).
Evidence: NVML answers "Unknown Error" inside, while the host works.
Arithmetic: none.
Fix: restart the container, which proves it; then the cgroup driver cgroupfs.
Proof: the driver answers inside, also after an hour without use.
Sources: Ollama pull request 7519 and docs/troubleshooting; users.md row 11.
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import seen

_KNOWN = "Unknown Error"  # NVML's answer once the cgroup has lost the device (ollama docs/gpu.md)


def check(evidence: Evidence) -> Finding | None:
    """Find the driver's answer that a container without its device gives."""
    line = evidence.log.last(Fact.GPU_LOST) if evidence.log else None
    if line is None:
        return None
    is_inside = evidence.machine is not None and bool(evidence.machine.text("os.container"))
    return Finding(
        cause="The container lost the GPU: it was started with it, and later the system took the "
        "device's permission away. The driver of the computer itself works.",
        cites=(seen.cite(line), *seen.fact_cites(evidence, "os.container")),
        fix=Fix(
            "Restart the container: when the GPU is back, this was it. To keep it, set the cgroup "
            "driver of Docker to cgroupfs in /etc/docker/daemon.json, then restart Docker.",
            '{"exec-opts": ["native.cgroupdriver=cgroupfs"]}',
        ),
        proof="The line is gone, and the GPU is used, also after an hour without requests.",
        certainty=Certainty.PROVEN if is_inside and _KNOWN in line.text else Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Say nothing: no answer of the driver is in the log."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the program or of its driver"


RULE = Rule(
    id="container-lost-gpu",
    title="The container lost the GPU",
    check=check,
    silent=silent,
    needs=needs,
)
