"""The machine as plain text: for the terminal, and for "Copy all"."""

import textwrap
from collections.abc import Iterator

from app.core import fact_words, units
from app.core.doubts import doubts
from app.core.gpus import Gpu, GpuKind, gpus
from app.core.machine import Device, Machine, MachineFact, Runtime
from app.core.overview import overview

_WIDTH = 96
_KINDS = {
    GpuKind.SHARED: "shares the computer's memory",
    GpuKind.SOFTWARE: "software, runs on the CPU",
    GpuKind.REMOTE: "reached by RPC",
}


def machine_text(machine: Machine) -> str:
    """Return everything that is known."""
    lines = [*_overview(machine), *_devices(machine), *_runtimes(machine), *_facts(machine)]
    lines += [f"Not read: {text}" for text in machine.skipped]
    return "\n".join(lines).rstrip() + "\n"


def device_line(device: Device, kind: GpuKind = GpuKind.CARD) -> str:
    """Return one device as llama.cpp lists it."""
    memory = f"{units.size(device.free_bytes)} free of {units.size(device.total_bytes)}"
    mark = _KINDS.get(kind)
    return f"{device.id}: {device.description}, {memory}" + (f" ({mark})" if mark else "")


def runtime_line(runtime: Runtime) -> str:
    """Return one runtime with its version and what it is built for."""
    parts = [runtime.title if runtime.version is None else f"{runtime.title} {runtime.version}"]
    if runtime.backends:
        parts.append(f"backends {', '.join(runtime.backends)}")
    if runtime.is_translated:
        parts.append("built for Intel, translated by Rosetta")
    if runtime.is_silent:
        parts.append("gives no answer")
    if runtime.is_running:
        parts.append("running" if runtime.port is None else f"running on port {runtime.port}")
    return ", ".join(parts)


def loaded_lines(runtime: Runtime) -> tuple[str, ...]:
    """Return what a running runtime holds, and how much of it is on a device."""
    lines = []
    for model in runtime.loaded:
        text = model.name
        if model.n_bytes is not None:
            text += f", {units.size(model.n_bytes)}"
        if model.device_bytes is not None:
            text += f", {units.size(model.device_bytes)} of it on a device"
        if model.ctx is not None:
            text += f", context {units.count(model.ctx)}"
        text = ", ".join((text, *model.settings))
        lines.append(text)
    return tuple(lines)


def _overview(machine: Machine) -> Iterator[str]:
    said = overview(machine)
    yield said.headline
    for sentence in said.sentences:
        yield from _wrap(sentence.text, "  ", "  ")
    yield ""


def _devices(machine: Machine) -> Iterator[str]:
    yield "Devices that llama.cpp lists"
    if machine.devices_source:
        yield f"  asked: {machine.devices_source}"
    by_device = {device.id: gpu for gpu in gpus(machine) for device in gpu.devices}
    for device in machine.devices:
        yield f"  {device_line(device, by_device[device.id].kind)}"
    if not machine.devices:
        fact = machine.fact("llama.devices")
        yield "  none" if machine.devices_source or fact is None else f"  {fact_words.value(fact)}"
    for gpu in gpus(machine):
        yield from _notes(gpu)
    yield ""


def _notes(gpu: Gpu) -> Iterator[str]:
    for note in gpu.notes:
        yield from _wrap(f"note: {note}", "  ", "        ")


def _runtimes(machine: Machine) -> Iterator[str]:
    yield "Runtimes"
    for runtime in machine.runtimes:
        yield f"  {runtime_line(runtime)}"
        if runtime.folder:
            yield f"    {runtime.folder}  ({runtime.source})"
        for line in loaded_lines(runtime):
            yield f"    loaded: {line}"
        if runtime.argv:
            yield from _wrap(f"started as: {' '.join(runtime.argv)}", "    ", "      ")
    if not machine.runtimes:
        yield "  none found"
    yield ""


def _facts(machine: Machine) -> Iterator[str]:
    doubtful = doubts(machine)
    for heading, facts in fact_words.groups(machine):
        yield heading
        width = max(len(fact_words.title(fact.path)) for fact in facts)
        for fact in facts:
            yield from _fact(fact, width, doubtful.get(fact.path, ""))
        yield ""


def _fact(fact: MachineFact, width: int, doubt: str) -> Iterator[str]:
    reading = fact.reading
    state = "" if reading.value is not None else f"{fact_words.STATES[reading.state]}: "
    source = f"[{reading.source}]" if reading.source else ""
    start = f"  {fact_words.title(fact.path):<{width}}  "
    indent = " " * len(start)
    text = f"{state}{fact_words.value(fact)}"
    if len(start) + len(text) + 2 + len(source) <= _WIDTH:
        yield f"{start}{text}  {source}".rstrip()
    else:
        yield from _wrap(text, start, indent)
        yield from _wrap(source, indent, f"{indent} ")
    if doubt:
        yield from _wrap(f"not plausible: {doubt}", f"{indent}!! ", f"{indent}   ")
    yield from _wrap(fact_words.how_to_get(fact), f"{indent}-> ", f"{indent}   ")


def _wrap(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text,
        max(_WIDTH, len(rest) + 40),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
