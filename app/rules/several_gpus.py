"""Several GPUs are slower than the fast one alone would be.

What: layers on two cards run one after the other. That adds memory, not speed: with unequal cards
the slow one sets the pace for what it holds.
Evidence: two rates that differ only in the devices, one card being faster; or weights on several
cards while all would fit the largest with 1 GiB to spare.
Arithmetic: sum of all device buffers + 1 GiB against the largest card's total.
Fix: that one card. Proof: one device's buffers only, a higher rate.
Sources: slowdown.md section 9 (two cards); advice.md claims 70 and 71; users.md row 8.
"""

from app.core import units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import BufferKind, Role
from app.core.request import SplitMode
from app.core.rule import Certainty, Finding, Rule
from app.rules import command, rates, seen
from app.rules.seen import SeenDevice

_SPARE = 1 * units.GIB
_DEVICE_SETTINGS = frozenset({"devices", "split_mode", "main_gpu", "tensor_split"})


def check(evidence: Evidence) -> Finding | None:
    """Find a split that one card makes needless."""
    used = _used(evidence)
    pair = _pair(evidence)
    if len(used) < 2:
        return _measured(evidence, pair)
    best = max(used, key=lambda device: device.total_bytes or 0)
    needed = _device_bytes(evidence)
    fits = best.total_bytes is not None and needed + _SPARE <= best.total_bytes
    if pair is None and not fits:
        return None
    names = ", ".join(device.name for device in used)
    measured = (
        ""
        if pair is None
        else f" One card alone wrote {pair[0].mean_tps / pair[1].mean_tps:.1f} times as fast here."
    )
    return Finding(
        cause=f"The layers are spread over {names}, which compute one after the other. All of it, "
        f"{units.size(needed)}, fits {best.name} alone.{measured}",
        cites=(
            *(device.cite for device in used),
            *(rates.cite(run, *sorted(_DEVICE_SETTINGS)) for run in pair or ()),
        ),
        fix=command.fix(
            evidence,
            f"Use {best.name} alone, and measure both with the same prompts.",
            device_ids=(best.name,),
            split_mode=SplitMode.NONE,
        ),
        proof=f"Only {best.name} has buffers, and the rate is higher.",
        certainty=Certainty.LIKELY if pair is not None else Certainty.NOT_PROVEN,
    )


def _measured(evidence: Evidence, pair: tuple[BenchRun, BenchRun] | None) -> Finding | None:
    """Tell of two rates alone: where the slower one used more devices, the faster is enough."""
    if pair is None:
        return None
    few, many = ((run.setting("devices") or "").split("/") for run in pair)
    if not set(few) < set(many):
        return None
    fast, slow = pair
    return Finding(
        cause=f"With {', '.join(many)} it wrote {slow.mean_tps:.1f} tokens per second, with "
        f"{', '.join(few)} alone {fast.mean_tps:.1f}. Layers on several cards run one after the "
        "other: that adds memory, not speed.",
        cites=tuple(rates.cite(run, "devices") for run in pair),
        fix=command.fix(
            evidence,
            f"Use {', '.join(few)} alone while the model fits there.",
            device_ids=tuple(few),
        ),
        proof=f"Only {', '.join(few)} has buffers, and the rate is higher.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if len(_used(evidence)) < 2:
        return "at most one card of this computer holds weights"
    return "the load does not fit one card"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if _pair(evidence) is not None:
        return ""
    return seen.placement_missing(evidence)


def _used(evidence: Evidence) -> tuple[SeenDevice, ...]:
    """Return the cards of this computer that hold weights."""
    story = seen.load(evidence)
    held = {
        b.device or b.name
        for b in (story.buffers if story else ())
        if b.kind is BufferKind.DEVICE and b.role is Role.WEIGHTS and b.n_bytes
    }
    found = seen.devices(evidence) or ()
    return tuple(d for d in found if d.name in held and not d.name.startswith("RPC"))


def _device_bytes(evidence: Evidence) -> int:
    story = seen.load(evidence)
    buffers = story.buffers if story else ()
    return sum(b.n_bytes for b in buffers if b.kind is BufferKind.DEVICE)


def _pair(evidence: Evidence) -> tuple[BenchRun, BenchRun] | None:
    for fast, slow in rates.pairs(evidence, Test.GENERATION):
        changed = rates.differences(fast, slow)
        if changed and changed <= _DEVICE_SETTINGS:
            return fast, slow
    return None


RULE = Rule(
    id="several-gpus",
    title="Several GPUs where one suffices",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
