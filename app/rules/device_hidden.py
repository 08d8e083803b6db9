"""A variable of the environment hides the GPU from the program.

What: each vendor's library looks only at the devices that a variable names. Empty, -1 or none means
no device at all, and the program computes on the processor without a word.
Evidence: the variable in the runtime's environment with such a value, a GPU of that vendor in the
computer, and a program that lists no device or puts no weights on one. Ollama's log names the
variable itself; whether the computer has a GPU is then not known.
Arithmetic: none.
Fix: remove the variable where the program is started. Proof: the device is listed.
Sources: CUDA C++ Programming Guide (CUDA_VISIBLE_DEVICES), ROCm manual (ROCR_VISIBLE_DEVICES,
HIP_VISIBLE_DEVICES); advice.md part 3 row "Device there, unused"; Ollama docs/gpu.md, v0.33.
"""

from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.core.variables import HIDING, NONE
from app.rules import seen


def check(evidence: Evidence) -> Finding | None:
    """Find a variable that leaves the program no device of a vendor."""
    found = _hiding(evidence)
    told = _told(evidence)
    story = seen.load(evidence)
    placed = story.weights_on_device if story is not None else None
    if not (found or told) or placed or (placed is None and _lists_device(evidence) is not False):
        return None
    names = ", ".join(dict.fromkeys((*(n for n, _ in found), *(e.word("name") for e in told))))
    gpus = seen.gpu_names(evidence)
    return Finding(
        cause=f"The environment of the program hides the GPU from it ({names}), so it computes on "
        "the processor." + (f" This computer has: {', '.join(gpus)}." if gpus else ""),
        cites=(
            *map(seen.cite, told),
            *(
                Cite(f"{name} = {value or '(empty)'}", source="environment")
                for name, value in found
            ),
            *seen.list_cites(evidence),
        ),
        fix=Fix(
            f"Remove {names} where the program is started: in the service, the shortcut or the "
            "profile of the shell. Then start it again.",
            f"unset {names.split(', ')[0]}",
        ),
        proof="The device list names the GPU, and a model buffer on it is above 0 MiB.",
        certainty=Certainty.PROVEN if story is not None and found else Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not seen.gpu_names(evidence) and not _told(evidence):
        return ""
    if _hiding(evidence) or _told(evidence):
        return "the variable is set, and a device is used or listed all the same"
    return "no variable of the program hides a GPU"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    told = _told(evidence)
    if not evidence.variables and not told:
        return "the environment of the runtime was not read"
    story = seen.load(evidence)
    is_placed = story is not None and story.weights_on_device is not None
    if (told or _hiding(evidence)) and not is_placed and _lists_device(evidence) is None:
        return "a variable hides a GPU, but no list of devices and no load was seen"
    return ""


def _lists_device(evidence: Evidence) -> bool | None:
    """Tell whether the program lists a device; a log may show the list without a load."""
    found = seen.devices(evidence)
    lines = evidence.log.all(Fact.DEVICE_LISTED) if evidence.log else ()
    if found is None and lines:
        return any(line.word("device").lower() != "cpu" for line in lines)
    return None if found is None else bool(found)


def _hiding(evidence: Evidence) -> tuple[tuple[str, str], ...]:
    """Return the variables that leave no device of a vendor whose GPU is in the computer."""
    gpus = " ".join(seen.gpu_names(evidence)).lower()
    wanted = {name for word, names in HIDING.items() if _is_of(word, gpus) for name in names}
    return tuple(
        (name, value)
        for name, value in evidence.variables
        if name in wanted and value.strip().lower() in NONE
    )


def _told(evidence: Evidence) -> tuple[LogEvent, ...]:
    """Return the lines in which the program's log names such a variable; no other GPU is known."""
    wanted = {name for names in HIDING.values() for name in names}
    return tuple(
        event
        for event in (evidence.log.all(Fact.VARIABLE) if evidence.log else ())
        if event.word("name") in wanted and event.word("value").lower() in NONE
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
