"""The KV cache is in system memory while the layers are on the device.

What: --no-kv-offload (-nkvo) or its twin was set; each token reads the whole cache from system
memory, slower the longer the chat.
Evidence: weights on a device, KV buffers only in host buffers.
Arithmetic: sum of the KV buffers on devices = 0, on the host above 0.
Fix: remove the setting. Proof: the KV buffer line names the device.
Sources: advice.md claims 10 and 11; tests/data/logs/b10434-vulkan-nkvo-lv4.log.
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Role
from app.core.rule import Finding, Rule
from app.rules import command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find weights on a device with their whole cache on the host."""
    story = seen.load(evidence)
    if story is None or not story.weights_on_device:
        return None
    on_host = story.bytes_of(BufferKind.HOST, Role.KV)
    if not on_host or story.bytes_of(BufferKind.DEVICE, Role.KV):
        return None
    kept = seen.buffers(story, BufferKind.HOST, Role.KV)
    return Finding(
        cause=f"The layers are on the device, but the whole KV cache ({units.mib(on_host)}) is in "
        "system memory. Writing gets slower the longer the chat is.",
        cites=seen.cite_buffers(evidence, kept),
        fix=command.fix(
            evidence,
            "Remove --no-kv-offload (-nkvo), or LLAMA_ARG_KV_OFFLOAD from the environment. If the "
            "cache then does not fit, shorten the context before you put it back.",
            kv_offload=True,
        ),
        proof="The lines “KV buffer size” name the device.",
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    story = seen.load(evidence)
    if story is not None and story.weights_on_device:
        on_device = story.bytes_of(BufferKind.DEVICE, Role.KV)
        return f"{units.mib(on_device)} of the KV cache are on a device"
    return "no weights are on a device, so the cache belongs to system memory"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return seen.placement_missing(evidence)


RULE = Rule(
    id="kv-on-host",
    title="The KV cache is in system memory",
    check=check,
    silent=silent,
    needs=needs,
)
