"""Every processor computes for the model while other programs work too.

What: the threads of one step wait for the slowest, and one that shares its processor with another
program is the slowest.
Evidence: as many threads as logical processors, weights on the host, and other programs at work.
Arithmetic: threads against processors; other programs' share of all processors above 25 %. On
fewer than four processors one thread less costs more than it can give back.
Fix: one thread fewer than cores while the machine is in use.
Proof: the spread is smaller. Sources: advice.md part 3 row "All cores used, machine busy";
advice.md claim 36 (4 threads on 2 processors: 42.0 to 23.6 tok/s).
"""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Cite, Finding, Rule
from app.rules import command, machine_busy, seen

_CLEAR_SHARE = 0.25  # of four processors one: then a thread surely waits for another program
_FEWEST_PROCESSORS = 4


def check(evidence: Evidence) -> Finding | None:
    """Find all processors in use by the model on a busy machine."""
    threads, total = _threads(evidence), _processors(evidence)
    if threads is None or total is None or threads[0] < total or total < _FEWEST_PROCESSORS:
        return None
    share = machine_busy.others_share(evidence)
    busy = machine_busy.check(evidence)
    if share is None or share <= _CLEAR_SHARE or busy is None or not seen.host_computes(evidence):
        return None
    fewer = total - 1
    return Finding(
        cause=f"All {total} processors compute for the model while other programs work. Each step "
        "waits for the processor that is shared.",
        cites=(threads[1], *busy.cites),
        fix=command.fix(
            evidence,
            f"Use {fewer} threads while the computer is in use. When it is idle, that costs some.",
            threads=fewer,
        ),
        proof="The rates of repeated runs spread less.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    threads, total = _threads(evidence), _processors(evidence)
    if total is not None and total < _FEWEST_PROCESSORS:
        return f"with {total} processors, one thread less would cost more than it gives back"
    if threads is not None and total is not None and threads[0] < total:
        return f"the model used {threads[0]} of {total} processors"
    share = machine_busy.others_share(evidence)
    if share is not None and share <= _CLEAR_SHARE:
        return f"other programs used at most {units.percent(share, 0)} of the processor"
    return "the processor computes no layers of the model"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if _threads(evidence) is None:
        return "the number of threads is not known"
    if _processors(evidence) is None:
        return "the number of processors is not known"
    if machine_busy.others_share(evidence) is None:
        return "processor use of other programs was not sampled"
    return seen.placement_missing(evidence)


def _threads(evidence: Evidence) -> tuple[int, Cite] | None:
    info = evidence.log.last(Fact.SYSTEM_INFO) if evidence.log else None
    if info is None or "threads" not in info.values:
        return None
    return info.whole("threads"), seen.cite(info)


def _processors(evidence: Evidence) -> int | None:
    total = evidence.machine.number("cpu.logical") if evidence.machine else None
    return total or (evidence.watch.cores if evidence.watch else None)


RULE = Rule(
    id="all-cores-used",
    title="All processors are used on a busy machine",
    check=check,
    silent=silent,
    needs=needs,
)
