"""A software renderer stands in for a GPU: llvmpipe and its like compute on the processor.

What: the device that computes is a software rasteriser, usually because the GPU's own Vulkan
driver is missing. It is slower than llama.cpp's own processor code. It may hold no weights: with
-ngl 0 it still computes prompts of 32 tokens or more, whose weights are copied to it each time.
Evidence: the device's name in the list (llvmpipe, lavapipe, SwiftShader), and a buffer on it.
Arithmetic: none; the size is a measurement.
Fix: where another device or a GPU is there: use that. Else measure without it (--device none);
that is only "also possible" where it holds weights, because the list alone does not prove that it
is slower here. Where it only computes prompts nothing is gained by it, so it is the verdict.
Proof: the buffers name another device, and the rate is higher.
Sources: operations offloaded by batch: ggml_backend_vk_device_offload_op in ggml-vulkan.cpp and
op_offload in llama-context.cpp, build 10434; logs.md section 2.1; advice.md part 3 row
"Wrong or software backend"; tests/data/logs/b10434-vulkan-full-offload-lv4.log.
"""

from app.core.evidence import Evidence
from app.core.log import Fact, LogBuffer
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, seen
from app.rules.seen import SeenDevice

_FOR_PROMPTS = (
    " It holds no weights, but long prompts are computed on it all the same, and each weight is "
    "copied to it for that."
)


def check(evidence: Evidence) -> Finding | None:
    """Find a software device that holds part of the load."""
    found = [device for device in seen.software_devices(evidence) if _is_used(evidence, device)]
    if not found:
        return None
    device = found[0]
    others = _others(evidence)
    names = seen.gpu_names(evidence)
    warning = evidence.log.last(Fact.SOFTWARE_DEVICE) if evidence.log else None
    story = seen.load(evidence)
    is_for_prompts = story is not None and (
        story.weights_on_device is False and story.is_device_computing
    )
    is_avoidable = bool(others or names) or is_for_prompts
    return Finding(
        cause=f"{device.name} is no GPU: {device.description} computes on the processor."
        + (_FOR_PROMPTS if is_for_prompts else ""),
        cites=(
            device.cite,
            *seen.cite_buffers(evidence, _used(evidence, device)),
            *((seen.cite(warning),) if warning is not None else ()),
            *(Cite(f"this computer has: {name}", source="hardware") for name in names),
        ),
        fix=_without(evidence) if is_for_prompts else _fix(evidence, others, names),
        proof="No buffer line names it any more, and the rate of the prompt is higher."
        if is_for_prompts
        else "The buffer lines name another device, and the rate is higher.",
        certainty=Certainty.LIKELY if is_avoidable else Certainty.NOT_PROVEN,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not seen.devices(evidence):
        return "the program lists no device"
    return "no software renderer holds a part of the load"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if seen.devices(evidence) is not None else "no program listed its devices"


def _is_used(evidence: Evidence, device: SeenDevice) -> bool:
    return bool(_used(evidence, device))


def _used(evidence: Evidence, device: SeenDevice) -> tuple[LogBuffer, ...]:
    story = seen.load(evidence)
    buffers = story.buffers if story is not None else ()
    return tuple(b for b in buffers if (b.device or b.name) == device.name and b.n_bytes)


def _others(evidence: Evidence) -> tuple[SeenDevice, ...]:
    software = {device.name for device in seen.software_devices(evidence)}
    return tuple(d for d in seen.devices(evidence) or () if d.name not in software)


def _fix(evidence: Evidence, others: tuple[SeenDevice, ...], names: tuple[str, ...]) -> Fix:
    if others:
        return Fix(
            f"Use {others[0].name} instead: {others[0].description}.",
            command.server(evidence, device_ids=(others[0].name,)),
        )
    if names:
        return Fix(
            f"Install the graphics driver of {names[0]}, then look at the device list again.",
            "llama-server --list-devices",
        )
    return command.fix(
        evidence,
        "Check it by measuring once without this device. Keep what is faster.",
        use_devices=False,
        ngl=None,
    )


def _without(evidence: Evidence) -> Fix:
    return command.fix(
        evidence,
        "Load it without this device (--device none): the processor's own code reads prompts "
        "faster. If this computer has a GPU, install its driver.",
        use_devices=False,
        ngl=None,
    )


RULE = Rule(
    id="wrong-backend",
    title="The device is a software renderer",
    check=check,
    silent=silent,
    needs=needs,
)
