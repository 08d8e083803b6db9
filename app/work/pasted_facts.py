"""Adds the facts that a person pasted from a tool: dmidecode, nvidia-smi -q, system_profiler."""

import re
from dataclasses import dataclass, replace

from app.core import bandwidth, facts, units
from app.core.machine import Machine, MachineFact
from app.probes import apple_gpu, memory_modules, nvidia_smi_q
from app.work import device_rows

LIMIT = 2 << 20  # characters; no tool prints more
_GPU = re.compile(r"gpu\.(\d+)\.(.+)")
_MOMENTARY = frozenset({
    "memory_free", "temperature", "memory_clock", "clock", "busy", "pcie_generation", "pcie_width",
    "power", "clock_reasons",
})  # fmt: skip


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


def merge(machine: Machine, found: tuple[MachineFact, ...], source: str) -> Added:
    """Return the machine with what a tool told; facts that are known are kept."""
    if not found:
        sentence = "Nothing in it was understood: paste the whole output of one of the commands."
        return Added(machine, sentence, 0)
    kept = {fact.path: fact for fact in machine.facts}
    new = [
        MachineFact(fact.path, replace(fact.reading, source=source))
        for fact in _renumbered(machine, found)
        if fact.path not in kept or kept[fact.path].reading.value is None
    ]
    if not new:
        return Added(machine, "Understood, but all of it was known already.", 0)
    changed = kept | {fact.path: fact for fact in new}
    if any(_GPU.fullmatch(fact.path) for fact in new):
        count = len({m[1] for path in changed if (m := _GPU.fullmatch(path))})
        how = "counted from the probes and what was pasted"
        changed["gpu.count"] = facts.known("gpu.count", count, source=how)
    names = "1 fact was added" if len(new) == 1 else f"{len(new)} facts were added"
    result = replace(machine, facts=tuple(changed.values()))
    if any(fact.path.endswith((".cores", ".name")) for fact in new):
        result = bandwidth.with_devices(result, device_rows.rows())
    return Added(result, f"{names}, from {source}.", len(new))


def doubt(machine: Machine, text: str) -> str:
    """Say when a text's memory modules hold less than this computer has, "" = nothing odd."""
    modules = (
        memory_modules.dmi_modules(text)
        or memory_modules.apple_modules(text)
        or memory_modules.windows_modules(text)
    )
    n_bytes, total = sum(m.n_bytes for m in modules), machine.number("memory.total")
    if not modules or total is None or n_bytes >= total:
        return ""
    return (
        f"These modules hold {units.size(n_bytes)}, and this computer has {units.size(total)}: "
        "they may be of another computer. Then remove them again."
    )


def is_momentary(fact: MachineFact) -> bool:
    """Tell whether a fact is of one moment, such as a temperature."""
    match = _GPU.fullmatch(fact.path)
    return match is not None and match[2] in _MOMENTARY


def parsed(text: str) -> tuple[str, tuple[MachineFact, ...]]:
    """Return which tool printed a text, and what it tells; ("", ()) for any other text."""
    text = text[:LIMIT]
    for modules, source in (
        (memory_modules.dmi_modules(text), "dmidecode"),
        (memory_modules.apple_modules(text), "system_profiler SPMemoryDataType"),
        (memory_modules.windows_modules(text), "Win32_PhysicalMemory"),
    ):
        if modules:
            return source, _known(memory_modules.module_facts(modules, source))
    cores = apple_gpu.profiler_cores(text)
    if cores is not None:
        source = "system_profiler SPDisplaysDataType"
        return source, (facts.known("gpu.0.cores", cores, source=source),)
    found = _known(nvidia_smi_q.parse(text))
    return (nvidia_smi_q.SOURCE, found) if found else ("", ())


def _known(found: tuple[MachineFact, ...]) -> tuple[MachineFact, ...]:
    return tuple(fact for fact in found if fact.reading.value is not None)


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
