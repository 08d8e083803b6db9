"""The answers that issue trackers ask for, each as one text."""

from dataclasses import dataclass

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.machine import Device, DeviceKind
from app.core.rule import Diagnosis
from app.core.symptom import TEXTS, Symptom
from app.report.program import build_text, command_of

_MOST_LINES = 60


@dataclass(frozen=True, slots=True)
class Form:
    """What the forms of llama.cpp, Ollama and LM Studio have in common; "" = not known."""

    program: str
    system: str
    backends: str
    hardware: str
    cpu: str
    gpu: str
    model: str
    problem: str
    command: str
    log: str


def form(evidence: Evidence, diagnosis: Diagnosis) -> Form:
    """Fill the form."""
    return Form(
        program=_program(evidence),
        system=_system(evidence),
        backends=_backends(evidence),
        hardware=", ".join(text for text in (_cpu(evidence), _gpu(evidence)) if text),
        cpu=_cpu(evidence),
        gpu=_gpu(evidence),
        model=_model(evidence),
        problem=_problem(evidence, diagnosis),
        command=command_of(evidence),
        log=_log(evidence, diagnosis),
    )


def _program(evidence: Evidence) -> str:
    story = evidence.log.load if evidence.log else None
    said = evidence.log.last(Fact.BUILD) if evidence.log else None
    if said is not None:
        return build_text(evidence)
    parts = [f"{story.program} build {story.build}"] if story and story.build else []
    parts += [
        f"{runtime.title} {runtime.version}"
        for runtime in (evidence.machine.runtimes if evidence.machine else ())
        if runtime.version
    ]
    return ", ".join(parts)


def _system(evidence: Evidence) -> str:
    machine = evidence.machine
    if machine is None:
        return ""
    parts = [machine.text("os.name"), machine.text("os.kernel"), machine.text("os.arch")]
    if machine.flag("os.is_wsl"):
        parts.append("WSL2")
    if machine.text("os.container"):
        parts.append(f"in a container ({machine.text('os.container')})")
    return ", ".join(part for part in parts if part)


def _backends(evidence: Evidence) -> str:
    machine = evidence.machine
    if machine is None:
        return ""
    names = dict.fromkeys(backend_name(device) for device in machine.devices)
    return ", ".join(names) or ("CPU" if machine.devices_source else "")


def backend_name(device: Device) -> str:
    """Return a backend's name as its makers write it."""
    names = {
        DeviceKind.ROCM: "ROCm",
        DeviceKind.VULKAN: "Vulkan",
        DeviceKind.METAL: "Metal",
        DeviceKind.OTHER: "another backend",
    }
    return names.get(device.kind, device.kind.name)


def _cpu(evidence: Evidence) -> str:
    machine = evidence.machine
    name = machine.text("cpu.model") if machine else None
    if machine is None or not name:
        return ""
    cores = machine.number("cpu.physical")
    memory = machine.number("memory.total")
    parts = [name, f"{cores} cores" if cores else "", f"{units.size(memory)} RAM" if memory else ""]
    return ", ".join(part for part in parts if part)


def _gpu(evidence: Evidence) -> str:
    machine = evidence.machine
    if machine is None:
        return ""
    return "; ".join(f"{d.description} ({units.size(d.total_bytes)})" for d in machine.devices)


def _model(evidence: Evidence) -> str:
    model = evidence.model
    if model is None:
        return ""
    return f"{model.name}, {model.arch}, {units.size(model.file_bytes)}"


def _problem(evidence: Evidence, diagnosis: Diagnosis) -> str:
    parts = []
    symptom = next((s for s in Symptom if s.value == evidence.symptom), None)
    if symptom is not None:
        parts.append(f"{TEXTS[symptom]}.")
    verdict = diagnosis.verdict
    if verdict is None:
        parts.append("No fault was found by the checks that could be made.")
    else:
        parts.append(f"{verdict.title} ({verdict.certainty.value}): {verdict.cause}")
    return " ".join(parts)


def _log(evidence: Evidence, diagnosis: Diagnosis) -> str:
    """Return the cited lines, then the lines of the load that state facts about the placement."""
    story = evidence.log.load if evidence.log else None
    numbers = {cite.line for cite in diagnosis.verdict.cites} if diagnosis.verdict else set()
    events = {event.line: event.text for event in (story.events if story else ())}
    for event in evidence.log.events if evidence.log else ():
        if event.line in numbers:
            events[event.line] = event.text
    chosen = sorted(events.items())
    kept = [item for item in chosen if item[0] in numbers]
    kept += [item for item in chosen if item[0] not in numbers][: _MOST_LINES - len(kept)]
    return "\n".join(f"{line}: {text}" for line, text in sorted(kept))
