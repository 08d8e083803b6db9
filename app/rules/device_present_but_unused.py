"""A device is there, but no weights are on it.

What: the program lists a device, and every weight is in system memory all the same.
Evidence: the device list, and the buffer lines: no model buffer on a device. Never the line
"offloaded N/M layers to GPU": it repeats the request, and prints 19/19 with --device none. Where no
list was printed, another buffer on a device shows that there is one; "offloaded 0/M" makes it
likely. A build of before September 2025 takes no layer by itself, so there a command without a
number of layers is enough to make it likely.
Arithmetic: sum of the model buffers on devices = 0.
Fix: remove the setting that keeps the device out (--device none, -ngl 0, or their variables).
Where every device is a software renderer: leave it so, as llvmpipe is slower than the processor's
own kernels; only the driver of a real GPU helps.
Proof: a model buffer on the device above 0.
Sources: logs.md section 0 rules 1 and 5; load_tensors in llama.cpp src/llama-model.cpp, build
11434; pull request 15434 (all layers by default); issues 9881 and 12614; tests/data/logs/
b10434-vulkan-device-none-ngl99-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LoadStory, Role
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, seen

# pull request 15434 of August 2025; b6123 of that month still takes none
_FIRST_ALL_BUILD, _FIRST_ALL_MONTH = 6300, "2025-09"


def check(evidence: Evidence) -> Finding | None:
    """Find a load with a device listed and no weights on any device."""
    story = seen.load(evidence)
    listed = seen.devices(evidence)
    if story is None or story.weights_on_device is None:
        return _never_asked(evidence)
    if listed is None and story.weights_on_device is False:
        return _unlisted(evidence, story)
    if not listed or story.weights_on_device is not False:
        return None
    if seen.moved_by_fit(story):  # then room is the fault, not a setting
        return None
    if _is_all_software(evidence) and story.is_device_computing:  # then wrong-backend names it
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


def _unlisted(evidence: Evidence, story: LoadStory) -> Finding | None:
    """Tell of a load that shows a device only by its other buffers, or by the offload line."""
    used = tuple(b for b in story.buffers if b.kind is BufferKind.DEVICE and b.n_bytes)
    claim = story.event(Fact.OFFLOADED)
    is_zero = story.offload_line is not None and story.offload_line[0] == 0
    has_no_gpu = evidence.machine is not None and not seen.gpu_names(evidence)
    if not used and (not is_zero or has_no_gpu or _is_cpu_build(evidence)):
        return None
    host = seen.buffers(story, BufferKind.HOST, Role.WEIGHTS)
    return Finding(
        cause="No weights are on the GPU: all of them are in system memory, though the program "
        + (f"uses {used[0].device or used[0].name}." if used else "is built for a GPU."),
        cites=(
            *((seen.cite(claim),) if claim is not None else ()),
            *seen.cite_buffers(evidence, (*host, *used)),
        ),
        fix=_ask_for_layers(evidence, story.offload_line),
        proof="A model buffer on a device above 0 MiB.",
        certainty=Certainty.PROVEN if used else Certainty.LIKELY,
    )


def _never_asked(evidence: Evidence) -> Finding | None:
    """Tell of an old build that was not told a number of layers: it then takes none."""
    request = evidence.request
    names = seen.gpu_names(evidence)
    if request is None or request.ngl is not None or not names:
        return None
    if seen.runtime(evidence) != command.LLAMA_CPP or not _takes_none_by_itself(evidence):
        return None
    number = seen.build(evidence)
    return Finding(
        cause=f"No number of layers was given, and {f'build {number}' if number else 'this build'} "
        f"then puts none on the GPU ({', '.join(names)}). Builds since September 2025 take all.",
        cites=(
            Cite("no -ngl in the command", source="command"),
            *(Cite(f"this computer has: {name}", source="hardware") for name in names),
        ),
        fix=_ask_for_layers(evidence, None),
        proof="A model buffer on a device above 0 MiB.",
        certainty=Certainty.LIKELY,
    )


def _takes_none_by_itself(evidence: Evidence) -> bool:
    return seen.is_older(evidence, _FIRST_ALL_BUILD, _FIRST_ALL_MONTH)


def _is_cpu_build(evidence: Evidence) -> bool:
    """Tell whether the program says that no GPU backend is in it."""
    return evidence.log is not None and evidence.log.last(Fact.NO_GPU_WARNING) is not None


def _ask_for_layers(evidence: Evidence, line: tuple[int, int] | None) -> Fix:
    """Ask for layers by number where the build does not place them by itself."""
    if seen.runtime(evidence) in ("", command.LLAMA_CPP) and not _takes_none_by_itself(evidence):
        return command.fix(
            evidence,
            "Remove -ngl 0 (or LLAMA_ARG_N_GPU_LAYERS), so that layers go to the device. A build "
            "of before September 2025 needs the number: -ngl and that of all layers.",
            use_devices=True,
            ngl=None,
        )
    count = f"all {line[1]} layers" if line is not None else "all layers of the model"
    blocks = evidence.model.whole("block_count") if evidence.model is not None else None
    ngl = line[1] if line is not None else blocks + 1 if blocks is not None else None
    text = (
        f"Ask for {count} (-ngl; in Python bindings n_gpu_layers). If the load then fails, go down "
        "until it does not."
    )
    return Fix(text) if ngl is None else command.fix(evidence, text, ngl=ngl)


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if seen.devices(evidence) == ():
        return "the program lists no device"
    if story is not None and story.weights_on_device:
        return f"{units.mib(story.device_weight_bytes())} of weights are on a device"
    if story is not None and _is_all_software(evidence) and story.is_device_computing:
        return "the device computes prompts, though it holds no weights"
    return "the automatic fit found no room on the device"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    story = seen.load(evidence)
    if story is not None and story.weights_on_device:
        return ""
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
