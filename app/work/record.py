"""Makes notebook entries of what was measured."""

from dataclasses import replace
from datetime import UTC, datetime

from app.core import units
from app.core.bench import BenchRun
from app.core.evidence import Evidence, MemoryWatch
from app.core.log import BufferKind, LoadStory, Role
from app.core.machine import Machine
from app.work.bench_runner import BenchResult
from app.work.notebook import Entry, Placement


def entry_of_bench(result: BenchResult, machine: Machine | None) -> Entry:
    """Make the entry of a benchmark run; it has no log, so its placement is what was asked."""
    entry = _entry(result.runs, machine, result.watch, Placement(), "benchmark")
    return replace(entry, gpu_watch=result.gpu_watch)


def entry_of_diagnosis(evidence: Evidence) -> Entry | None:
    """Make the entry of a guided run, None when it measured nothing."""
    if not evidence.runs:
        return None
    story = evidence.log.load if evidence.log else None
    placement = placement_of(story) if story else Placement()
    entry = _entry(evidence.runs, evidence.machine, evidence.watch, placement, "diagnose")
    return replace(entry, gpu_watch=evidence.gpu_watch)


def entry_of_second_run(evidence: Evidence) -> Entry | None:
    """Make the entry of the run that tried a change, None when it measured nothing."""
    second = evidence.second()
    return entry_of_diagnosis(second) if second is not None else None


def placement_of(story: LoadStory) -> Placement:
    """Return where a load's bytes were, by its buffers; None when the log does not show it."""
    if story.weights_on_device is None:
        return Placement(offload_line=story.offload_line)
    return Placement(
        device_weights_bytes=story.bytes_of(BufferKind.DEVICE, Role.WEIGHTS),
        host_weights_bytes=story.bytes_of(BufferKind.HOST, Role.WEIGHTS),
        device_kv_bytes=story.bytes_of(BufferKind.DEVICE, Role.KV),
        host_kv_bytes=story.bytes_of(BufferKind.HOST, Role.KV),
        offload_line=story.offload_line,
    )


def machine_words(machine: Machine | None) -> tuple[str, ...]:
    """Describe a machine in words that stay the same from day to day."""
    if machine is None:
        return ()
    found = [machine.text("cpu.model")]
    cores, memory = machine.number("cpu.physical"), machine.number("memory.total")
    found.append(f"{cores} cores" if cores else None)
    found.append(f"{units.gib(memory)} of memory" if memory else None)
    found += [f"{device.id}: {device.description}" for device in machine.devices]
    found += [
        f"{fact.path} {fact.reading.value}"
        for fact in machine.facts
        if fact.path.endswith(".driver") and fact.reading.value
    ]
    return tuple(word for word in found if word)


def _entry(
    runs: tuple[BenchRun, ...], machine: Machine | None, watch: MemoryWatch | None,
    placement: Placement, source: str,
) -> Entry:  # fmt: skip
    first = runs[0]
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Entry(
        run_id=first.run_id,
        time=first.started or now,
        model=first.model_name,
        runs=runs,
        build=first.build,
        machine=machine_words(machine),
        placement=placement,
        watch=watch,
        busy=first.busy,
        source=source,
    )
