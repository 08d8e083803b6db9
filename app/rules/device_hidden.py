"""A variable of the environment hides the GPU from the program.

What: each vendor's library looks only at the devices that a variable names. Empty, -1 or none means
no device at all, and the program computes on the processor without a word.
Evidence: the variable in the runtime's environment with such a value, a GPU of that vendor in the
computer, and a program that lists no device or puts no weights on one.
Arithmetic: none.
Fix: remove the variable where the program is started. Proof: the device is listed.
Sources: CUDA C++ Programming Guide (CUDA_VISIBLE_DEVICES), ROCm manual (ROCR_VISIBLE_DEVICES,
HIP_VISIBLE_DEVICES); advice.md part 3 row "Device there, unused"; Ollama docs/gpu.md, v0.33.
"""

from app.core.evidence import Evidence
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.core.variables import HIDING, NONE
from app.rules import seen


def check(evidence: Evidence) -> Finding | None:
    """Find a variable that leaves the program no device of a vendor."""
    found = _hiding(evidence)
    story = seen.load(evidence)
    if not found or (story is not None and story.weights_on_device):
        return None
    if story is None and seen.devices(evidence) != ():
        return None
    names = ", ".join(name for name, _ in found)
    return Finding(
        cause=f"The environment of the program hides the GPU from it ({names}), so it computes on "
        f"the processor. This computer has: {', '.join(seen.gpu_names(evidence))}.",
        cites=(
            *(
                Cite(f"{name} = {value or '(empty)'}", source="environment")
                for name, value in found
            ),
            *seen.list_cites(evidence),
        ),
        fix=Fix(
            f"Remove {names} where the program is started: in the service, the shortcut or the "
            "profile of the shell. Then start it again.",
            f"unset {found[0][0]}",
        ),
        proof="The device list names the GPU, and a model buffer on it is above 0 MiB.",
        certainty=Certainty.PROVEN if story is not None else Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not seen.gpu_names(evidence):
        return ""
    if _hiding(evidence):
        return "the variable is set, and weights are on a device all the same"
    return "no variable of the program hides a GPU"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.variables else "the environment of the runtime was not read"


def _hiding(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Return the variables that leave no device of a vendor whose GPU is in the computer."""
    gpus = " ".join(seen.gpu_names(evidence)).lower()
    wanted = {name for word, names in HIDING.items() if _is_of(word, gpus) for name in names}
    return tuple(
        (name, value)
        for name, value in evidence.variables
        if name in wanted and value.strip().lower() in NONE
    )


def _is_of(vendor: str, gpus: str) -> bool:
    words = {"nvidia": ("nvidia", "geforce", "rtx", "tesla"), "amd": ("amd", "radeon", "instinct")}
    return any(word in gpus for word in words[vendor])


RULE = Rule(
    id="device-hidden",
    title="A variable hides the GPU",
    check=check,
    silent=silent,
    needs=needs,
)
