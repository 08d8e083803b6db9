"""The card's link is narrower than it can be, where data must cross it.

What: a card in the wrong slot, or not seated, has fewer lanes. That slows loading, prompts with
weights on the host, and several cards; never the writing of a model that is all on one card.
Evidence: lanes below the lanes at most, and weights on the host or on several cards. The
generation falls when idle, so it counts only while the card was watched at work.
Arithmetic: lanes over lanes at most; the highest generation at work over the highest possible.
Fix: seat the card in the right slot; meanwhile a larger micro-batch.
Proof: the lanes, and the prompt's rate.
Sources: hardware.md section 3; slowdown.md section 9 (link below 3 GB/s); advice.md claims
67 to 69.
"""

from app.core.evidence import Evidence
from app.core.log import BufferKind, Role
from app.core.machine import Machine
from app.core.rule import Certainty, Cite, Finding, Rule
from app.rules import command, seen

_LARGER_UBATCH = 2048
_FEWEST_BUSY = 5  # samples; the first ones may still be on their way up


def check(evidence: Evidence) -> Finding | None:
    """Find a link with fewer lanes than it has, that this load needs."""
    if evidence.machine is None or not _needs_link(evidence):
        return None
    index = _narrow(evidence.machine)
    if index is None:
        return _slow_generation(evidence)
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


def _slow_generation(evidence: Evidence) -> Finding | None:
    """Find a link that stayed at a lower generation while the card worked."""
    watch = evidence.gpu_watch
    if watch is None or watch.link_generation is None or watch.link_generation_max is None:
        return None
    now, most = watch.link_generation, watch.link_generation_max
    if now >= most or (watch.n_busy or 0) < _FEWEST_BUSY:
        return None
    text = f"PCIe generation {now} of {most} at most, in {watch.n_busy} samples at work"
    return Finding(
        cause=f"{watch.name or 'The card'} talked with PCIe generation {now} of {most} while it "
        "worked. Each generation less halves what crosses the link; with weights in system "
        "memory, or on several cards, prompts wait for it.",
        cites=(Cite(text, source=watch.source or "GPU watch"),),
        fix=command.fix(
            evidence,
            "Look in the firmware settings whether the slot is set to an older generation, and "
            "take out a riser cable. Until then a larger micro-batch crosses the link less often.",
            ubatch=_LARGER_UBATCH,
        ),
        proof=f"The card works with generation {most}, and the prompt's rate is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not _needs_link(evidence):
        return "all weights are on one card, so the link does not matter for writing"
    watch = evidence.gpu_watch
    if watch is not None and watch.link_generation is not None:
        return (
            f"no link has fewer lanes than it can have, and generation {watch.link_generation} "
            "was in use at work"
        )
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
