"""What several rules ask of the evidence: the last load, the devices seen, lines to cite."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.core import fact_words, units
from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LoadStory, LogBuffer, LogEvent, Role
from app.core.machine import DeviceKind
from app.core.rule import Cite

NO_PLACEMENT = "no log of a load that shows the buffers (start llama.cpp with -lv 4)"


@dataclass(frozen=True, slots=True)
class SeenDevice:
    """A device that a program listed; total None = not known."""

    name: str
    description: str
    total_bytes: int | None
    cite: Cite


def load(evidence: Evidence) -> LoadStory | None:
    """Return the last load of the log."""
    return evidence.log.load if evidence.log else None


def cite(event: LogEvent) -> Cite:
    """Cite a log line."""
    return Cite(event.text, event.line)


def cite_buffers(evidence: Evidence, buffers: Iterable[LogBuffer]) -> tuple[Cite, ...]:
    """Cite all lines whose sizes these buffers sum up."""
    events = evidence.log.events if evidence.log else ()
    texts = {event.line: event.text for event in events}
    return tuple(
        Cite(texts.get(line, f"{b.name} {b.role.value}: {units.mib(b.n_bytes)}"), line)
        for b in buffers
        for line in b.lines
    )


def buffers(story: LoadStory, kind: BufferKind, role: Role) -> tuple[LogBuffer, ...]:
    """Return the buffers of one kind and role."""
    return tuple(b for b in story.buffers if b.kind is kind and b.role is role)


def is_placement_known(story: LoadStory | None) -> bool:
    """Tell whether the log shows where the weights went."""
    return story is not None and story.weights_on_device is not None


def placement_missing(evidence: Evidence) -> str:
    """Say that the placement is not known, "" when it is."""
    story = load(evidence)
    if story is None:
        return NO_PLACEMENT
    return "" if is_placement_known(story) else story.note or NO_PLACEMENT


def devices(evidence: Evidence) -> tuple[SeenDevice, ...] | None:
    """Return the devices a runtime listed, the CPU not among them; None when none listed any."""
    story = load(evidence)
    if story is not None and story.devices_listed is not None:
        names = frozenset(story.devices_listed)
        return tuple(seen for seen in _logged_devices(evidence) if seen.name in names)
    machine = evidence.machine
    if machine is None or not machine.devices_source:
        return None
    return tuple(
        SeenDevice(
            device.id,
            device.description,
            device.total_bytes,
            Cite(f"{device.id}: {device.description}", source=device.source),
        )
        for device in machine.devices
    )


def moved_by_fit(story: LoadStory) -> bool:
    """Tell whether llama.cpp's own fit left layers off the device for lack of room."""
    if story.offload_line is None or story.event(Fact.FIT_FAILED) is not None:
        return False
    n, m = story.offload_line
    return n < m and any(story.event(fact) for fact in (Fact.FIT_SHORT, Fact.FIT_DEVICE))


# lines that only a server prints that has its model
_READY = (
    Fact.LOADED, Fact.REQUEST_START, Fact.PROMPT_SIZE, Fact.PROMPT_CACHED, Fact.PROMPT_RATE,
    Fact.GENERATION_RATE, Fact.RATE_SHOWN, Fact.CONTEXT_TRUNCATED, Fact.PROMPT_REPROCESSED,
    Fact.KV_POOL_FULL, Fact.REQUEST_TOO_LONG,
)  # fmt: skip


def events(evidence: Evidence) -> tuple[LogEvent, ...]:
    """Return the events of the last load, those of the whole log where it shows no load."""
    story = load(evidence)
    if story is not None:
        return story.events
    return evidence.log.events if evidence.log is not None else ()


# a load only places bytes: these come when something is computed, be it the warm-up
_OF_COMPUTING = (
    "DeviceLost", "device lost", "illegal memory access", "unspecified launch failure",
    "launch timed out", "misaligned address", "device-side assert",
)  # fmt: skip


def is_of_computing(event: LogEvent) -> bool:
    """Tell whether an error can only come from a computation, so that the load had succeeded."""
    return event.fact is Fact.ERROR_OTHER and any(word in event.text for word in _OF_COMPUTING)


def ready_line(evidence: Evidence) -> int | None:
    """Return the first line that shows that the model was loaded, None = none does."""
    return next((event.line for event in events(evidence) if event.fact in _READY), None)


def is_older(evidence: Evidence, number: int, month: str) -> bool:
    """Tell whether llama.cpp is known to be older than a build, or than a month such as 2025-08."""
    build_number = build(evidence)
    if build_number is not None:
        return build_number < number
    story = load(evidence)
    until = story.dated.removesuffix(" or earlier").rpartition(" to ")[2] if story else ""
    return bool(until) and not until.endswith("later") and until < month


def fit_lines(story: LoadStory) -> tuple[LogEvent, ...]:
    """Return the lines with which the fit explains that it moved layers, in order of meaning."""
    facts = (
        Fact.FIT_SHORT, Fact.FIT_CTX_REDUCED, Fact.FIT_CTX_KEPT, Fact.FIT_DEVICE, Fact.OFFLOADED,
    )  # fmt: skip
    return tuple(event for event in map(story.event, facts) if event is not None)


def doubt_of_layers(evidence: Evidence) -> str:
    """Say that more layers need not help where the device works in system memory, else ""."""
    if not shares_system_memory(evidence):
        return ""
    return (
        " This device works in system memory, so layers on it may not be faster: measure both, and "
        "keep the faster one."
    )


def memory_refused(evidence: Evidence) -> bool:
    """Tell whether the log has an error about memory."""
    return evidence.log is not None and evidence.log.last(Fact.ERROR_MEMORY) is not None


def list_cites(evidence: Evidence) -> tuple[Cite, ...]:
    """Cite all lines of the log's last device list, the CPU included."""
    if evidence.log is None:
        return ()
    last: dict[str, LogEvent] = {}
    for event in evidence.log.all(Fact.DEVICE_LISTED):
        last[event.word("device")] = event
    return tuple(cite(event) for event in last.values())


def _logged_devices(evidence: Evidence) -> tuple[SeenDevice, ...]:
    assert evidence.log is not None
    last: dict[str, SeenDevice] = {}
    for event in evidence.log.all(Fact.DEVICE_LISTED):
        total = event.values.get("total_mib")
        last[event.word("device")] = SeenDevice(
            event.word("device"),
            str(event.values.get("description", "")),
            int(float(total) * units.MIB) if total is not None else None,
            cite(event),
        )
    return tuple(last.values())


# Mesa's software rasterisers and Microsoft's, as Vulkan names them
_SOFTWARE = ("llvmpipe", "lavapipe", "swiftshader", "microsoft basic render")


def is_windows(evidence: Evidence) -> bool:
    """Tell whether the computer runs Windows; False also where its system is not known."""
    name = evidence.machine.text("os.name") if evidence.machine else None
    return bool(name and name.lower().startswith("windows"))


def host_computes(evidence: Evidence) -> bool:
    """Tell whether the log shows layers whose weights are in system memory."""
    story = load(evidence)
    if story is None or not story.bytes_of(BufferKind.HOST, Role.WEIGHTS):
        return False
    n, m = story.offload_line or (0, 1)
    return n < m or story.weights_on_device is False


def software_devices(evidence: Evidence) -> tuple[SeenDevice, ...]:
    """Return the devices that compute on the processor while they look like a GPU."""
    flagged = {d.id for d in evidence.machine.devices if d.is_software} if evidence.machine else ()
    return tuple(
        seen
        for seen in devices(evidence) or ()
        if seen.name in flagged or any(word in seen.description.lower() for word in _SOFTWARE)
    )


def shares_system_memory(evidence: Evidence) -> bool:
    """Tell whether the device in use works in system memory: r is then small (slowdown.md 7)."""
    story = load(evidence)
    used = {b.device or b.name for b in story.buffers if b.n_bytes} if story else set()
    shared = {device.name for device in software_devices(evidence)}
    for device in evidence.machine.devices if evidence.machine else ():
        is_mac = device.kind is DeviceKind.METAL and device.is_integrated is not False
        if device.is_integrated or device.is_software or is_mac:
            shared.add(device.id)
    is_metal = evidence.log is not None and evidence.log.last(Fact.DEVICE_LIMIT) is not None
    return bool(shared & used) or is_metal


def gpu_names(evidence: Evidence) -> tuple[str, ...]:
    """Return the GPUs that the probes saw, by name."""
    if evidence.machine is None:
        return ()
    return tuple(
        fact.reading.value
        for fact in evidence.machine.facts
        if fact.path.startswith("gpu.")
        and fact.path.endswith(".name")
        and isinstance(fact.reading.value, str)
    )


# facts that only one runtime prints
_TELLS = {
    "ollama": (Fact.OFFLOAD_PLAN, Fact.GPU_DROPPED),
    "vllm": (Fact.VLLM_MEMORY, Fact.VLLM_EAGER),
}
_SLOG = "source="  # Ollama's own lines: time=... level=INFO source=runner.go:931 msg=...


def runtime(evidence: Evidence) -> str:
    """Return the id of the runtime that ran the model: as told, else by its log; "" = unknown."""
    if evidence.runtime or evidence.log is None:
        return evidence.runtime
    for name, facts in _TELLS.items():
        if any(evidence.log.last(fact) is not None for fact in facts):
            return name
    named = evidence.log.last(Fact.PROGRAM)
    if named is not None and "program" in named.values:
        return named.word("program").lower().replace(" ", "-")
    is_slog = any(_SLOG in event.text and "msg=" in event.text for event in evidence.log.events)
    return "ollama" if is_slog else ""


def build(evidence: Evidence) -> int | None:
    """Return llama.cpp's build number: as the log says it, else as the runtime's version."""
    story = load(evidence)
    if story is not None and story.build is not None:
        return story.build
    digits = evidence.runtime_version.lstrip("b")
    return int(digits) if digits.isdigit() else None


def is_cuda(evidence: Evidence) -> bool:
    """Tell whether an NVIDIA or AMD card computes through CUDA or ROCm, as far as is known."""
    names = [buffer.device or buffer.name for s in [load(evidence)] if s for buffer in s.buffers]
    names += [device.id for device in evidence.machine.devices] if evidence.machine else []
    names += [run.backends for run in evidence.runs]
    return any(name.startswith(("CUDA", "ROCm")) for name in names)


def fact_cites(evidence: Evidence, *paths: str) -> tuple[Cite, ...]:
    """Cite facts of the machine that are known."""
    found: list[Cite] = []
    for path in paths:
        fact = evidence.machine.fact(path) if evidence.machine else None
        if fact is None or fact.reading.value is None:
            continue
        words = f"{fact_words.title(path)}: {fact_words.value(fact)}"
        found.append(Cite(words, source=fact.reading.source))
    return tuple(found)
