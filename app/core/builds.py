"""Which build of llama.cpp a load, a measurement or a computer goes by; None = not known."""

from app.core.bench import BenchRun
from app.core.eras import Change
from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary
from app.core.machine import Machine

LLAMA_CPP = "llama.cpp"
_SERVER = "llama-server"


def of_evidence(evidence: Evidence) -> int | None:
    """Return the build of the load that was seen: its log's, else that of the program here."""
    if evidence.log is not None and evidence.log.load is not None:
        return of_log(evidence.log)
    if evidence.runtime not in ("", LLAMA_CPP):
        return of_machine(evidence.machine, evidence.runtime)
    return of_machine(evidence.machine)


def of_log(log: LogSummary) -> int | None:
    """Return the build that the last load names, or one of its age that its lines tell."""
    story = log.load
    if story is None:
        return None
    if story.build is not None:
        return story.build
    repeating, offloaded = log.last(Fact.OFFLOADING_REPEATING), log.last(Fact.OFFLOADED)
    if repeating is None or offloaded is None or offloaded.line < story.first_line:
        return None
    n, m = offloaded.whole("n"), offloaded.whole("m")
    # the output layer is not among them, so it was left for last (placement.md 1.2)
    return Change.OUTPUT_FIRST.value[0] if 0 < n < m and repeating.whole("n") == n else None


def of_machine(machine: Machine | None, runtime_id: str = LLAMA_CPP) -> int | None:
    """Return a runtime's build; of llama.cpp that of the program that listed the devices."""
    if machine is None:
        return None
    if runtime_id != LLAMA_CPP:
        return next((one.build for one in machine.runtimes if one.id == runtime_id), None)
    servers = [one for one in machine.runtimes if one.program(_SERVER)]
    asked = machine.devices_source.partition(" --list-devices")[0]
    listed = [one for one in servers for p in one.programs if p.path == asked]
    return next((one.build for one in (*listed, *servers)), None)


def of_run(run: BenchRun) -> int | None:
    """Return the build that a rate was measured with."""
    return int(run.build) if run.build.isdigit() else None
