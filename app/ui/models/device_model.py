"""The cards of the Hardware tab as values: GPUs, CPU, memory, runtimes."""

from dataclasses import dataclass

from app.core import fact_words, machine_text, units
from app.core.gpus import Gpu, GpuKind, driver_fact, gpus
from app.core.machine import Machine, MachineFact
from app.core.overview import fast_cores, is_asked
from app.ui.widgets.byte_bar import Bar, NamedBar, Segment

_BADGES = {
    GpuKind.CARD: "",
    GpuKind.SHARED: "shares the computer's memory",
    GpuKind.SOFTWARE: "software, not a GPU",
    GpuKind.REMOTE: "another computer",
}
_NO_LIST = "not listed: this llama.cpp cannot use it"
_NOT_ASKED = "not known: no llama.cpp program was found"


@dataclass(frozen=True, slots=True)
class Line:
    """A figure with its name; source is shown on hover, is_missing says that there is none."""

    label: str
    value: str
    source: str = ""
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Tile:
    """A card: title, a quiet word beside it, memory bars, figures, and notes to heed."""

    name: str  # the widget's objectName
    title: str
    badge: str = ""
    text: str = ""
    bars: tuple[NamedBar, ...] = ()
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


def tiles(machine: Machine) -> tuple[Tile, ...]:
    """Return a card for each GPU (or one that says there is none), for the CPU and memory."""
    found = gpus(machine)
    cards = [_gpu(machine, gpu) for gpu in found]
    if not any(gpu.is_real for gpu in found):
        cards.insert(0, _no_gpu(machine))
    return (*cards, _cpu(machine), _memory(machine))


def runtime_lines(machine: Machine) -> tuple[Line, ...]:
    """Return the runtimes found, and what the running ones hold."""
    lines = []
    for runtime in machine.runtimes:
        lines.append(Line(machine_text.runtime_line(runtime), runtime.folder, runtime.source))
        lines += [
            Line("", f"loaded: {text}", runtime.source)
            for text in machine_text.loaded_lines(runtime)
        ]
    return tuple(lines)


def system_line(machine: Machine) -> str:
    """Return the operating system and where it runs, in a few words."""
    parts = [machine.text("os.name"), machine.text("os.arch")]
    if machine.flag("os.is_wsl"):
        parts.append("WSL")
    container = machine.text("os.container")
    if container:
        parts.append(f"{container} container")
    return " · ".join(part for part in parts if part)


def memory_bar(
    title: str, total: int | None, free: int | None, source: str, free_word: str = "free"
) -> NamedBar:
    """Return a bar of what is in use and what is free; bytes, None = not known."""
    if total is None or free is None or not 0 <= free <= total or not total:
        size = units.gib(total) if total is not None else units.UNKNOWN
        headline = f"{size}, free: {units.UNKNOWN}" if total is not None else size
        return NamedBar(title, headline, False, Bar((), None, f"{title}: {headline}"))
    headline = f"{units.gib(free)} of {units.gib(total)} {free_word}"
    used = total - free
    segments = (
        Segment("other", "in use", units.size(used), used / total, source),
        Segment("free", free_word, units.size(free), free / total, source),
    )
    return NamedBar(title, headline, False, Bar(segments, None, f"{title}: {headline}"))


def _gpu(machine: Machine, gpu: Gpu) -> Tile:
    bars = []
    lines = []
    if gpu.index is not None:
        total, free = (driver_fact(machine, gpu, n) for n in ("memory_total", "memory_free"))
        source = total.reading.source if total else ""
        bars.append(memory_bar("Driver", _bytes(total), _bytes(free), source))
        lines += _missing(total)
    bars += [
        memory_bar(f"llama.cpp {d.id}", d.total_bytes, d.free_bytes, d.source) for d in gpu.devices
    ]
    if not gpu.devices:
        lines.append(Line("llama.cpp", _NO_LIST if is_asked(machine) else _NOT_ASKED, "", True))
    if gpu.kind is GpuKind.SOFTWARE:
        lines.append(Line("What it is", _SOFTWARE))
    lines += _card_lines(machine, gpu)
    name = f"gpuCard{gpu.index}" if gpu.index is not None else f"deviceCard{gpu.devices[0].id}"
    return Tile(name, gpu.name, _BADGES[gpu.kind], "", tuple(bars), tuple(lines), gpu.notes)


_SOFTWARE = (
    "A program on the CPU that acts like a GPU. llama.cpp plans with it, but its memory is system "
    "memory and its speed the CPU's."
)


def _card_lines(machine: Machine, gpu: Gpu) -> list[Line]:
    lines = []
    for label, name in (
        ("May borrow", "gtt_total"),
        ("Limit set", "memory_limit"),
        ("Bandwidth", "bandwidth"),
        ("Power limit", "power_limit"),
        ("Temperature", "temperature"),
        ("Driver", "driver"),
    ):
        fact = driver_fact(machine, gpu, name)
        if fact is not None and fact.reading.value is not None:
            lines.append(Line(label, fact_words.value(fact), fact.reading.source))
    link = _link(machine, gpu)
    return [*lines[:3], link, *lines[3:]] if link else lines


def _link(machine: Machine, gpu: Gpu) -> Line | None:
    """Return the PCIe link now and at most; an idle card lowers it, which is normal."""
    now = [driver_fact(machine, gpu, name) for name in ("pcie_generation", "pcie_width")]
    top = [driver_fact(machine, gpu, name) for name in ("pcie_generation_max", "pcie_width_max")]
    if any(fact is None or fact.reading.value is None for fact in (*now, *top)):
        return None
    source = now[0].reading.source if now[0] else ""
    first, last = _link_text(now), _link_text(top)
    text = first if first == last else f"{first} now, {last} at most (lower while idle is normal)"
    return Line("PCIe", text, source)


def _link_text(facts: list[MachineFact | None]) -> str:
    generation, width = (fact.reading.value if fact else None for fact in facts)
    return f"gen {generation} ×{width}"


def _no_gpu(machine: Machine) -> Tile:
    count = machine.fact("gpu.count")
    asked = machine.fact("llama.devices")
    lines = []
    if count is not None:
        lines.append(
            Line("Drivers", fact_words.value(count), count.reading.source, is_missing=True)
        )
    if is_asked(machine):
        real = sum(not device.is_software for device in machine.devices)
        text = "lists none" if not real else "lists only devices of other computers"
        lines.append(Line("llama.cpp", text, machine.devices_source))
    elif asked is not None:
        lines.append(
            Line("llama.cpp", fact_words.value(asked), asked.reading.source, is_missing=True)
        )
    text = "None found. Models run on the CPU; that works, only more slowly than on a GPU."
    return Tile("noGpuCard", "GPU", "", text, lines=tuple(lines))


def _cpu(machine: Machine) -> Tile:
    lines = []
    for label, path in (
        ("Cores", "cpu.physical"),
        ("Kinds", "cpu.core_classes"),
        ("Quota", "cpu.quota"),
        ("Instruction sets", "cpu.instruction_sets"),
    ):
        fact = machine.fact(path)
        if fact is None or (fact.reading.value is None and path in ("cpu.quota",)):
            continue
        lines.append(_line(label, fact))
    lines[0:1] = _cores(machine)
    fact = machine.fact("cpu.model")
    title = machine.text("cpu.model") or "CPU"
    return Tile("cpuCard", title, "CPU" if fact and fact.reading.value else "", lines=tuple(lines))


def _cores(machine: Machine) -> list[Line]:
    physical, logical = machine.fact("cpu.physical"), machine.number("cpu.logical")
    if physical is None:
        return []
    if physical.reading.value is None:
        return [_line("Cores", physical)]
    source = physical.reading.source
    text = f"{physical.reading.value} physical"
    if logical is not None:
        text += f", {logical} logical"
    lines = [Line("Cores", text, source)]
    fast = fast_cores(machine)
    if fast is not None:
        how = "physical cores of the fastest kind"
        lines.append(Line("Threads to use", str(fast), f"{how}; {source}"))
    return lines


def _memory(machine: Machine) -> Tile:
    total, free = machine.fact("memory.total"), machine.fact("memory.available")
    source = total.reading.source if total else ""
    bars = [memory_bar("System memory", _bytes(total), _bytes(free), source, "available")]
    lines = _missing(total)
    limit, used = machine.number("memory.limit"), machine.number("memory.limit_used")
    if limit is not None:
        fact = machine.fact("memory.limit")
        left = None if used is None else max(0, limit - used)
        bars.append(memory_bar("Container limit", limit, left, fact.reading.source if fact else ""))
    swap = machine.fact("swap.total")
    swap_used = machine.number("swap.used")
    swap_total = _bytes(swap)
    if swap_total and swap_used is not None:
        bars.append(
            memory_bar(
                "Swap", swap_total, swap_total - swap_used, swap.reading.source if swap else ""
            )
        )
    elif swap is not None:
        lines.append(_line("Swap", swap))
    for label, path in (("Waited for memory", "pressure.memory.some"), ("Limit", "memory.limit")):
        fact = machine.fact(path)
        if fact is not None and not (path == "memory.limit" and limit is not None):
            lines.append(_line(label, fact))
    return Tile("memoryCard", "Memory", "", bars=tuple(bars), lines=tuple(lines))


def _line(label: str, fact: MachineFact) -> Line:
    is_missing = fact.reading.value is None
    return Line(label, fact_words.value(fact), fact.reading.source, is_missing)


def _missing(fact: MachineFact | None) -> list[Line]:
    if fact is None or fact.reading.value is not None:
        return []
    return [Line("Memory", fact_words.value(fact), fact.reading.source, is_missing=True)]


def _bytes(fact: MachineFact | None) -> int | None:
    value = fact.reading.value if fact else None
    return value if isinstance(value, int) else None
