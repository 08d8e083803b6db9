"""More threads than physical cores compute the host's part, so they wait for each other.

What: two threads on one core share its arithmetic, and each step waits for the slowest of all.
Evidence: a number of threads above the physical (fast) cores, weights on the host; best of all
two runs that differ only in it.
Arithmetic: threads against cores; the rates' ratio.
Fix: remove the number (the default is the physical, fast cores), or cores less one on a machine
in use. More threads never help here.
Proof: the line n_threads, a higher rate with a smaller spread.
Sources: advice.md claims 35 and 36; common/common.cpp of llama.cpp, build 11434; Ollama issue 9306.
"""

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, Role
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, rates, seen

_PATHS = ("cpu.fast_cores", "cpu.performance_cores", "cpu.physical")


def check(evidence: Evidence) -> Finding | None:
    """Find more threads than cores, where the host computes."""
    cores = _cores(evidence)
    if cores is None:
        return None
    pair = _pair(evidence, cores)
    if pair is not None:
        return _by_rates(evidence, cores, *pair)
    threads = _threads(evidence)
    if threads is None or threads[0] <= cores or not _host_bytes(evidence):
        return None
    return _finding(
        evidence,
        cores,
        f"{threads[0]} threads compute on {cores} cores, and they wait for each other.",
        (threads[1], *_core_cites(evidence)),
        Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    cores, threads = _cores(evidence), _threads(evidence)
    if cores is not None and threads is not None and threads[0] > cores:
        return "nothing is computed on the processor, so its threads do not matter"
    return "no more threads than cores were used"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if _cores(evidence) is None:
        return "the number of physical cores is not known"
    if _threads(evidence) is None and not evidence.runs:
        return "the number of threads is not known"
    return ""


def _cores(evidence: Evidence) -> int | None:
    machine = evidence.machine
    found = (machine.number(path) for path in _PATHS) if machine else ()
    return next((number for number in found if number), None)


def _core_cites(evidence: Evidence) -> tuple[Cite, ...]:
    return seen.fact_cites(evidence, "cpu.physical", "cpu.logical")


def _pair(evidence: Evidence, cores: int) -> tuple[BenchRun, BenchRun] | None:
    for fast, slow in rates.pairs(evidence, Test.GENERATION):
        few, many = rates.whole(fast, "n_threads"), rates.whole(slow, "n_threads")
        if few is None or many is None or not few <= cores < many:
            continue
        if rates.differences(fast, slow) == {"n_threads"}:
            return fast, slow
    return None


def _by_rates(evidence: Evidence, cores: int, fast: BenchRun, slow: BenchRun) -> Finding:
    return _finding(
        evidence,
        cores,
        f"{rates.whole(slow, 'n_threads')} threads compute on {cores} cores, and they wait for "
        f"each other: with {rates.whole(fast, 'n_threads')} the same load writes "
        f"{fast.mean_tps / slow.mean_tps:.1f} times as fast.",
        (rates.cite(slow, "n_threads"), rates.cite(fast, "n_threads"), *_core_cites(evidence)),
        Certainty.PROVEN if rates.is_by_interval(fast, slow) else Certainty.LIKELY,
    )


def _finding(
    evidence: Evidence, cores: int, cause: str, cites: tuple[Cite, ...], certainty: Certainty
) -> Finding:
    return Finding(
        cause=cause, cites=cites, fix=_fix(evidence, cores), proof="The line “n_threads” says "
        f"{cores} or less, and the rate is higher with a smaller spread.", certainty=certainty,
    )  # fmt: skip


def _fix(evidence: Evidence, cores: int) -> Fix:
    name = "num_thread" if seen.runtime(evidence) == "ollama" else "the number of threads (-t)"
    fewer = max(1, cores - 1)
    return command.fix(
        evidence,
        f"Set {name} to the number of physical cores, {cores}; try one less ({fewer}) when other "
        "programs run. Without the setting it takes the physical (on Linux the fast) cores.",
        threads=fewer,
    )


def _threads(evidence: Evidence) -> tuple[int, Cite] | None:
    """Return the threads that were used, and where that is said."""
    info = evidence.log.last(Fact.SYSTEM_INFO) if evidence.log else None
    if info is not None and "threads" in info.values:
        return info.whole("threads"), seen.cite(info)
    request = evidence.request
    if request is None or request.threads is None:
        return None
    return request.threads, Cite(f"threads asked for: {request.threads}", source="command")


def _host_bytes(evidence: Evidence) -> int:
    """Return the weights beside the embedding that the host holds, as the log says."""
    story = seen.load(evidence)
    if story is None:
        return 0
    on_host = story.bytes_of(BufferKind.HOST, Role.WEIGHTS)
    n, m = story.offload_line or (0, 1)
    return on_host if n < m or story.weights_on_device is False else 0


RULE = Rule(
    id="threads-above-cores",
    title="More threads than cores",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
