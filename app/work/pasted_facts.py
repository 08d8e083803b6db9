"""Adds the facts that a person pasted from a tool: dmidecode, nvidia-smi -q, system_profiler."""

import re
from dataclasses import dataclass, replace

from app.core import facts
from app.core.machine import Machine, MachineFact
from app.probes import apple_gpu, memory_modules, nvidia_smi_q

LIMIT = 2 << 20  # characters; no tool prints more
_GPU = re.compile(r"gpu\.(\d+)\.(.+)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command worth pasting from, and what it tells."""

    words: str
    tells: str


@dataclass(frozen=True, slots=True)
class Added:
    """The machine with the pasted facts, and in a sentence what was understood."""

    machine: Machine
    sentence: str
    n_facts: int


def commands(platform: str) -> tuple[Command, ...]:
    """Return the commands for a system."""
    smi = Command("nvidia-smi -q", "clocks, link, power and heat of NVIDIA cards")
    if platform == "win32":
        query = 'powershell -Command "Get-CimInstance Win32_PhysicalMemory | ConvertTo-Json"'
        return (Command(query, "memory modules, channels and speed"), smi)
    if platform == "darwin":
        return (
            Command("system_profiler SPMemoryDataType -json", "memory modules"),
            Command("system_profiler SPDisplaysDataType -json", "the number of GPU cores"),
        )
    return (Command("sudo dmidecode -t 17", "memory modules, channels and speed"), smi)


def add(machine: Machine, text: str) -> Added:
    """Return the machine with what the text tells; facts that are known are kept."""
    text = text[:LIMIT]
    found = _parsed(text)
    if not found:
        sentence = "Nothing in it was understood: paste the whole output of one of the commands."
        return Added(machine, sentence, 0)
    kept = {fact.path: fact for fact in machine.facts}
    new = [
        fact
        for fact in _renumbered(machine, found)
        if fact.path not in kept or kept[fact.path].reading.value is None
    ]
    if not new:
        return Added(machine, "Understood, but all of it was known already.", 0)
    changed = kept | {fact.path: fact for fact in new}
    if any(_GPU.fullmatch(fact.path) for fact in new):
        count = len({m[1] for path in changed if (m := _GPU.fullmatch(path))})
        source = "counted from the probes and what was pasted"
        changed["gpu.count"] = facts.known("gpu.count", count, source=source)
    names = "1 fact was added" if len(new) == 1 else f"{len(new)} facts were added"
    result = replace(machine, facts=tuple(changed.values()))
    return Added(result, f"{names}, from {new[0].reading.source}.", len(new))


def _parsed(text: str) -> tuple[MachineFact, ...]:
    for modules, source in (
        (memory_modules.dmi_modules(text), "dmidecode (pasted)"),
        (memory_modules.apple_modules(text), "system_profiler (pasted)"),
        (memory_modules.windows_modules(text), "Win32_PhysicalMemory (pasted)"),
    ):
        if modules:
            return memory_modules.module_facts(modules, source)
    cores = apple_gpu.profiler_cores(text)
    if cores is not None:
        return (facts.known("gpu.0.cores", cores, source="system_profiler (pasted)"),)
    return nvidia_smi_q.parse(text)


def _renumbered(machine: Machine, found: tuple[MachineFact, ...]) -> tuple[MachineFact, ...]:
    """Give NVIDIA's cards the numbers that they have here, new ones those that follow."""
    numbers = sorted({int(m[1]) for fact in machine.facts if (m := _GPU.fullmatch(fact.path))})
    own = [n for n in numbers if machine.text(f"gpu.{n}.vendor") == "NVIDIA"]
    following = (numbers[-1] + 1) if numbers else 0
    result = []
    for fact in found:
        match = _GPU.fullmatch(fact.path)
        if match is None or match[2] == "cores":
            result.append(fact)
            continue
        index = int(match[1])
        number = own[index] if index < len(own) else following + index - len(own)
        result.append(MachineFact(f"gpu.{number}.{match[2]}", fact.reading))
    return tuple(result)
