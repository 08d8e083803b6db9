"""The processor has several memory nodes, and the weights it reads lie on the far one.

What: with two sockets or nodes a thread reads the other node's memory at about half the rate.
Evidence: two nodes or more, and weights on the host. Whether it hurts here only a measurement says,
so it is listed as possible.
Arithmetic: none.
Fix: --numa distribute, with the page cache dropped before. Proof: the rate.
Sources: advice.md claim 42; hardware.md section 1; slowdown.md section 5 (r 21 on one node, 15).
"""

from app.core.evidence import Evidence
from app.core.log import BufferKind, Role
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, seen

_NODES = "cpu.numa_nodes"


def check(evidence: Evidence) -> Finding | None:
    """Find several nodes under weights on the host."""
    story = seen.load(evidence)
    nodes = evidence.machine.number(_NODES) if evidence.machine else None
    if story is None or nodes is None or nodes < 2:
        return None
    if not story.bytes_of(BufferKind.HOST, Role.WEIGHTS):
        return None
    n, m = story.offload_line or (0, 1)
    if story.weights_on_device and n >= m:
        return None
    return Finding(
        cause=f"This computer has {nodes} memory nodes, and the processor reads weights. Those on "
        "the far node are read more slowly.",
        cites=seen.fact_cites(evidence, _NODES, "cpu.sockets"),
        fix=Fix(
            "Check it by measuring once with --numa distribute. Drop the page cache before, or the "
            "file stays where it is.",
            f"{command.server(evidence)} --numa distribute",
        ),
        proof="The rate is higher, by intervals that do not touch.",
        certainty=Certainty.NOT_PROVEN,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    nodes = evidence.machine.number(_NODES) if evidence.machine else None
    if nodes == 1:
        return "the memory is one node"
    return "the processor reads no weights"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.machine is None or evidence.machine.number(_NODES) is None:
        return "the memory nodes were not read"
    return seen.placement_missing(evidence)


RULE = Rule(
    id="numa",
    title="Weights on the far memory node",
    check=check,
    silent=silent,
    needs=needs,
)
