"""A device is there, but no weights are on it.

What: the program lists a device, and every weight is in system memory all the same.
Evidence: the device list, and the buffer lines: no model buffer on a device. Never the line
"offloaded N/M layers to GPU": it repeats the request, and prints 19/19 with --device none.
Arithmetic: sum of the model buffers on devices = 0.
Fix: remove the setting that keeps the device out (--device none, -ngl 0, or their variables).
Where every device is a software renderer: leave it so, as llvmpipe is slower than the processor's
own kernels; only the driver of a real GPU helps.
Proof: a model buffer on the device above 0.
Sources: logs.md section 0 rules 1 and 5; load_tensors in llama.cpp src/llama-model.cpp, build
11434; tests/data/logs/b10434-vulkan-device-none-ngl99-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LoadStory, Role
from app.core.rule import Finding, Fix, Rule
from app.rules import command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find a load with a device listed and no weights on any device."""
    story = seen.load(evidence)
    listed = seen.devices(evidence)
    if story is None or not listed or story.weights_on_device is not False:
        return None
    if seen.moved_by_fit(story):  # then room is the fault, not a setting
        return None
    names = ", ".join(device.name for device in listed)
    host = seen.buffers(story, BufferKind.HOST, Role.WEIGHTS)
    claim = story.event(Fact.OFFLOADED)
    cites = (
        *(device.cite for device in listed),
        *seen.cite_buffers(evidence, host),
        *((seen.cite(claim),) if claim is not None else ()),
    )
    return Finding(
        cause=f"Nothing is on the GPU: the program lists {names}, but all weights are in system "
        f"memory.{_contradiction(story)}",
        cites=cites,
        fix=_fix(evidence, story),
        proof=_proof(evidence, listed),
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if seen.devices(evidence) == ():
        return "the program lists no device"
    if story is not None and story.weights_on_device:
        return f"{units.mib(story.device_weight_bytes())} of weights are on a device"
    return "the automatic fit found no room on the device"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if seen.devices(evidence) is None:
        return "no program listed its devices"
    return seen.placement_missing(evidence)


def _contradiction(story: LoadStory) -> str:
    if story.offload_line is None or story.offload_line[0] == 0:
        return ""
    n, m = story.offload_line
    return f" The line “offloaded {n}/{m} layers to GPU” repeats the request; the buffers decide."


def _proof(evidence: Evidence, listed: tuple[seen.SeenDevice, ...]) -> str:
    if _is_all_software(evidence):
        return "The device list names the GPU of this computer, if it has one."
    return f"A line “{listed[0].name} model buffer size” above 0 MiB."


def _is_all_software(evidence: Evidence) -> bool:
    return seen.software_devices(evidence) == seen.devices(evidence)


def _fix(evidence: Evidence, story: LoadStory) -> Fix:
    if _is_all_software(evidence):
        return Fix(
            "Leave it as it is: the only device is software, which computes on the processor and "
            "is slower. If this computer has a GPU, install its driver, so that llama.cpp lists it."
        )
    return command.fix(evidence, _setting(evidence, story), use_devices=True, ngl=None)


def _setting(evidence: Evidence, story: LoadStory) -> str:
    request = evidence.request
    if request is not None and not request.use_devices:
        return "Remove --device none, or LLAMA_ARG_DEVICE from the environment."
    is_zero = story.offload_line is not None and story.offload_line[0] == 0
    if is_zero or (request is not None and request.ngl == 0):
        return "Remove -ngl 0 (or LLAMA_ARG_N_GPU_LAYERS), so that layers go to the device."
    return (
        "Remove the setting that keeps the device out: --device none, or LLAMA_ARG_DEVICE in the "
        "environment."
    )


RULE = Rule(
    id="device-present-but-unused",
    title="A device is there, but not used",
    check=check,
    silent=silent,
    needs=needs,
)
