"""Windows moved card memory into system memory without a word, because the card was full.

What: past the card's limit the driver's allocations succeed and live in shared system memory.
Each use then crosses the bus: a tenth of the speed, no error, no line.
Evidence: the program's shared memory grows while it runs; or the GPU is busy all the time while
its own memory is hardly read. Used VRAM proves nothing: it stays at the ceiling.
Arithmetic: growth of shared memory above 512 MiB; or memory use below a tenth at full GPU use.
Fix: less context (or layers) until there is a margin.
Proof: the shared memory of the program stays flat, and the rate is back.
Sources: hardware.md section 5; advice.md part 3 row "Windows shared memory"; users.md row 20.
"""

from app.core import units
from app.core.evidence import Evidence, GpuWatch
from app.core.live_events import SPILL_FROM
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, seen

_BUSY, _IDLE_MEMORY = 0.9, 0.1
_MARGIN_MIB = 1536


def check(evidence: Evidence) -> Finding | None:
    """Find a card whose memory went to the system while it worked."""
    watch = evidence.gpu_watch
    if watch is None or not seen.is_windows(evidence) or _is_integrated(evidence):
        return None
    is_grown = (watch.shared_growth_bytes or 0) >= SPILL_FROM
    if not is_grown and not _is_waiting(watch):
        return None
    return Finding(
        cause="The card's memory is full, and Windows keeps the rest in shared system memory. No "
        "error is shown: the card waits for the bus, and everything gets slow.",
        cites=_cites(watch),
        fix=_fix(evidence),
        proof="The program's shared GPU memory (task manager, or the counter Non Local Usage) does "
        "not grow while it answers, and the rate is back.",
        certainty=Certainty.PROVEN if is_grown else Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if not seen.is_windows(evidence):
        return ""
    if _is_integrated(evidence):
        return "this GPU always works in system memory"
    return "the card's memory stayed where it is"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.machine is None:
        return "the operating system is not known"
    if seen.is_windows(evidence) and evidence.gpu_watch is None:
        return "the GPU was not watched while the model wrote"
    return ""


def _is_waiting(watch: GpuWatch) -> bool:
    if watch.use_mean is None or watch.memory_use_mean is None:
        return False
    return watch.use_mean >= _BUSY and watch.memory_use_mean <= _IDLE_MEMORY


def _cites(watch: GpuWatch) -> tuple[Cite, ...]:
    found = []
    if watch.use_mean is not None and watch.memory_use_mean is not None:
        found.append(
            f"GPU busy {units.percent(watch.use_mean, 0)} of the time, its memory "
            f"{units.percent(watch.memory_use_mean, 0)}"
        )
    if watch.shared_growth_bytes:
        found.append(f"shared memory grew by {units.size(watch.shared_growth_bytes)}")
    return tuple(Cite(text, source=watch.source or "GPU watch") for text in found)


def _fix(evidence: Evidence) -> Fix:
    text = "Use a shorter context until the card's memory has a margin of about 1 GB"
    story, request = seen.load(evidence), evidence.request
    ctx = story.n_ctx if story is not None and story.n_ctx else request.ctx if request else None
    if ctx:
        half = max(256, ctx // 2 // 256 * 256)
        return command.fix(evidence, f"{text}: {units.count(half)} tokens first.", ctx=half)
    return command.fix(
        evidence,
        f"{text} (or let the program keep it: -fitt {_MARGIN_MIB}). Close other programs that use "
        "the card.",
        fit_target_mib=_MARGIN_MIB,
    )


def _is_integrated(evidence: Evidence) -> bool:
    return evidence.machine is not None and bool(evidence.machine.flag("gpu.0.is_unified"))


RULE = Rule(
    id="windows-shared-memory",
    title="The card's memory spills to system memory",
    check=check,
    silent=silent,
    needs=needs,
)
