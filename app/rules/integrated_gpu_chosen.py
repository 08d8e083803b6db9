"""The processor's own graphics is used, while a card with memory of its own is there.

What: two GPUs, and the slower one is taken: by order, or because the program mixed them up.
Evidence: Ollama's line "dropping integrated GPU" with the name of a card; or buffers on a device
that shares the system memory, and a listed device that does not.
Arithmetic: none.
Fix: name the card; for Ollama switch the backend off that mixed them up.
Proof: the buffers name the card, and its memory fills.
Sources: advice.md part 3 row "Integrated GPU chosen"; Ollama issue 16667; users.md row 7.
"""

from app.core import names
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent
from app.core.machine import Device
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, seen


def check(evidence: Evidence) -> Finding | None:
    """Find a card that was left out for an integrated GPU."""
    dropped = evidence.log.all(Fact.GPU_DROPPED) if evidence.log else ()
    line = next((e for e in dropped if names.is_card(e.word("description"))), None)
    return _mixed_up(line) if line is not None else _by_buffers(evidence)


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.log is not None and evidence.log.last(Fact.GPU_DROPPED) is not None:
        return "the GPU that was left out is an integrated one"
    return "no card was left out for an integrated GPU"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.log is not None else "no log of the program's start"


def _mixed_up(line: LogEvent) -> Finding:
    card = line.word("description")
    return Finding(
        cause=f"The integrated GPU was chosen: the program takes {card} for an integrated one and "
        "leaves it out. The model then sits in system memory, on the processor's own graphics.",
        cites=(seen.cite(line),),
        fix=Fix(
            "Switch Vulkan off for this runtime, in the environment of its service, so that the "
            "card is used through its own library. Then update the runtime.",
            "OLLAMA_VULKAN=0",
        ),
        proof=f"The memory of {card} fills, and the log names it as the device.",
    )


def _by_buffers(evidence: Evidence) -> Finding | None:
    machine, story = evidence.machine, seen.load(evidence)
    if machine is None or story is None:
        return None
    used = {b.device or b.name for b in story.buffers if b.n_bytes}
    weak = next((d for d in machine.devices if d.is_integrated and d.id in used), None)
    card = next((d for d in machine.devices if d.is_integrated is False), None)
    if weak is None or card is None or card.id in used:
        return None
    return Finding(
        cause=f"The model is on {weak.id} ({weak.description}), which works in system memory. "
        f"{card.id} ({card.description}) has memory of its own and is not used.",
        cites=(_cite(weak), _cite(card)),
        fix=command.fix(
            evidence, f"Use {card.id}: {card.description}.", device_ids=(card.id,), ngl=None
        ),
        proof=f"The buffer lines name {card.id}, and the rate is higher.",
        certainty=Certainty.LIKELY,
    )


def _cite(device: Device) -> Cite:
    return Cite(f"{device.id}: {device.description}", source=device.source)


RULE = Rule(
    id="integrated-gpu-chosen",
    title="The integrated GPU was chosen",
    check=check,
    silent=silent,
    needs=needs,
)
