"""The card's link is narrower than it can be, where data must cross it.

What: a card in the wrong slot, or not seated, has fewer lanes. That slows loading, prompts with
weights on the host, and several cards; never the writing of a model that is all on one card.
Evidence: lanes now below the lanes at most, and weights on the host or on several cards. The
generation falls when idle, so it proves nothing without load.
Arithmetic: lanes now over lanes at most.
Fix: seat the card in the right slot; meanwhile a larger micro-batch.
Proof: the lanes, and the prompt's rate.
Sources: hardware.md section 3; slowdown.md section 9 (link below 3 GB/s); advice.md claims
67 to 69.
"""

from app.core.evidence import Evidence
from app.core.log import BufferKind, Role
from app.core.machine import Machine
from app.core.rule import Certainty, Finding, Rule
from app.rules import command, seen

_LARGER_UBATCH = 2048


def check(evidence: Evidence) -> Finding | None:
    """Find a link with fewer lanes than it has, that this load needs."""
    if evidence.machine is None or not _needs_link(evidence):
        return None
    index = _narrow(evidence.machine)
    if index is None:
        return None
    now = evidence.machine.number(f"gpu.{index}.pcie_width")
    most = evidence.machine.number(f"gpu.{index}.pcie_width_max")
    name = evidence.machine.text(f"gpu.{index}.name") or f"GPU {index}"
    return Finding(
        cause=f"{name} uses {now} of {most} lanes of its link. With weights in system memory, or "
        "on several cards, prompts wait for it.",
        cites=seen.fact_cites(evidence, f"gpu.{index}.pcie_width", f"gpu.{index}.pcie_width_max"),
        fix=command.fix(
            evidence,
            "Switch the computer off and seat the card again, in the slot with all lanes. No "
            "setting widens a link; until then a larger micro-batch crosses it less often.",
            ubatch=_LARGER_UBATCH,
        ),
        proof=f"The link has {most} lanes, and the prompt's rate is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not _needs_link(evidence):
        return "all weights are on one card, so the link does not matter for writing"
    return "no link has fewer lanes than it can have"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    machine = evidence.machine
    if machine is None or machine.number("gpu.0.pcie_width_max") is None:
        return "the card's link was not read"
    return seen.placement_missing(evidence)


def _narrow(machine: Machine) -> int | None:
    for index in range(machine.number("gpu.count") or 1):
        now = machine.number(f"gpu.{index}.pcie_width")
        most = machine.number(f"gpu.{index}.pcie_width_max")
        if now and most and now < most:
            return index
    return None


def _needs_link(evidence: Evidence) -> bool:
    story = seen.load(evidence)
    if story is None or not story.weights_on_device:
        return False
    cards = seen.buffers(story, BufferKind.DEVICE, Role.WEIGHTS)
    n, m = story.offload_line or (0, 0)
    return n < m or len({card.name for card in cards}) > 1


RULE = Rule(
    id="narrow-link",
    title="The card's link is narrow",
    check=check,
    silent=silent,
    needs=needs,
)
