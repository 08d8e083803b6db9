"""The cards of the Hardware tab as values: GPUs, CPU, memory, runtimes."""

from dataclasses import dataclass, replace

from app.core import fact_words, machine_text, units
from app.core.gpus import Gpu, GpuKind, driver_fact, gpus
from app.core.machine import Machine, MachineFact
from app.core.overview import fast_cores, is_asked
from app.ui.widgets.byte_bar import Bar, NamedBar, Segment

_PARTS = {
    GpuKind.CARD: "GPU",
    GpuKind.SHARED: "GPU that shares the computer's memory",
    GpuKind.SOFTWARE: "Software, not a GPU",
    GpuKind.REMOTE: "Device reached by RPC",
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
    """A card: what part it is, its name, memory bars, figures, and notes to heed."""

    name: str
    part: str
    title: str
    text: str = ""
    bars: tuple[NamedBar, ...] = ()
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


def tiles(machine: Machine) -> tuple[Tile, ...]:
    """Return a card for each GPU (or one that says there is none), for the CPU and memory."""
    found = gpus(machine)
    if any(gpu.is_real for gpu in found):
        cards = tuple(_gpu(machine, gpu) for gpu in found)
    else:
        cards = (_no_gpu(machine),)
    return (*cards, _cpu(machine), _memory(machine))


@dataclass(frozen=True, slots=True)
class RuntimeEntry:
    """A runtime that was found; details are where it is and what it has loaded."""

    title: str
    details: tuple[str, ...]


def runtime_entries(machine: Machine) -> tuple[RuntimeEntry, ...]:
    """Return the runtimes found."""
    entries = []
    for runtime in machine.runtimes:
        place = f"{runtime.folder}  ·  {runtime.source}" if runtime.folder else runtime.source
        loaded = (f"loaded: {text}" for text in machine_text.loaded_lines(runtime))
        started = (f"started as: {' '.join(runtime.argv)}",) if runtime.argv else ()
        details = (place, *loaded, *started)
        entries.append(RuntimeEntry(machine_text.runtime_line(runtime), details))
    return tuple(entries)


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
) -> NamedBar | None:
    """Return a bar of what is in use and what is free, None when that is not known; bytes."""
    if total is None or free is None or not 0 <= free <= total or not total:
        return None
    headline = f"{units.gib(free)} of {units.gib(total)} {free_word}"
    used = total - free
    segments = (
        Segment("other", "in use", units.size(used), used / total, source),
        Segment("free", free_word, units.size(free), free / total, source),
    )
    return NamedBar(title, headline, False, Bar(segments, None, f"{title}: {headline}"))


def _gpu(machine: Machine, gpu: Gpu) -> Tile:
    bars: list[NamedBar | None] = []
    lines = []
    total, free = (driver_fact(machine, gpu, name) for name in ("memory_total", "memory_free"))
    if total is not None:
        source = total.reading.source
        bar = memory_bar(f"Driver{_short(source)}", _bytes(total), _bytes(free), source)
        bars.append(bar)
        if bar is None:
            lines.append(_line(_memory_label(machine, gpu, _bytes(total)), total))
    bars += [
        memory_bar(f"llama.cpp {d.id}", d.total_bytes, d.free_bytes, d.source) for d in gpu.devices
    ]
    if not gpu.devices:
        lines.append(Line("llama.cpp", _NO_LIST if is_asked(machine) else _NOT_ASKED, "", True))
    if gpu.kind is GpuKind.SOFTWARE:
        lines.append(Line("What it is", _SOFTWARE))
    lines += _card_lines(machine, gpu)
    name = f"gpu{gpu.index}" if gpu.index is not None else gpu.devices[0].id
    shown = tuple(bar for bar in bars if bar is not None)
    return Tile(name, _PARTS[gpu.kind], gpu.name, "", shown, tuple(lines), gpu.notes)


def _memory_label(machine: Machine, gpu: Gpu, total: int | None) -> str:
    """Return what a GPU's total is: its own, or the computer's that it shares."""
    if gpu.kind is not GpuKind.SHARED:
        return "Memory"
    computer = machine.number("memory.total")
    is_all = total is not None and computer is not None and total > computer // 2
    return "Shares all of" if is_all else "Own memory"


def _short(source: str) -> str:
    """Return a source in brackets where it is a word, not a path."""
    if source.startswith("/sys/"):
        return " (sysfs)"
    return f" ({source})" if source and len(source) <= 12 else ""


_SOFTWARE = (
    "A program on the CPU that acts like a GPU. llama.cpp plans with it, but its memory is system "
    "memory and its speed the CPU's."
)


def _card_lines(machine: Machine, gpu: Gpu) -> list[Line]:
    lines = []
    for label, name in (
        ("May borrow", "gtt_total"),
        ("Really usable", "memory_usable"),
        ("Limit set", "memory_limit"),
        ("Limit of macOS, about", "memory_default"),
        ("Metal recommends at most", "working_set"),
        ("Resizable BAR", "resizable_bar"),
        ("GPU cores", "cores"),
        ("Bandwidth", "bandwidth"),
        ("Power limit", "power_limit"),
        ("Temperature", "temperature"),
        ("Driver version", "driver"),
    ):
        fact = driver_fact(machine, gpu, name)
        if fact is not None and fact.reading.value is not None:
            line = _line(label, fact)
            if name == "bandwidth":  # never measured: from clock and width, or from the table
                how = "table" if fact.reading.source.startswith("table") else "calculated"
                line = replace(line, value=f"{line.value} ({how})")
            lines.append(line)
    link = _link(machine, gpu)
    return [*lines, link] if link else lines


def _link(machine: Machine, gpu: Gpu) -> Line | None:
    """Return the PCIe link; an idle card lowers the generation, but not its lanes."""
    names = ("pcie_generation", "pcie_generation_max", "pcie_width", "pcie_width_max")
    facts = [driver_fact(machine, gpu, name) for name in names]
    values = [fact.reading.value if fact else None for fact in facts]
    if None in values or facts[0] is None:
        return None
    generation, best, width, most = values
    text = f"gen {generation} ×{width}"
    if generation != best:
        text += f", gen {best} when it works"
    if width != most:
        text += f" (the card can do ×{most})"
    return Line("PCIe", text, facts[0].reading.source)


def _no_gpu(machine: Machine) -> Tile:
    count = machine.fact("gpu.count")
    asked = machine.fact("llama.devices")
    lines = []
    if count is not None:
        lines.append(_line("Drivers", count))
    if machine.devices:
        lines += [
            Line("llama.cpp", machine_text.device_line(d, gpu.kind), d.source)
            for gpu in gpus(machine)
            for d in gpu.devices
        ]
    elif is_asked(machine):
        lines.append(Line("llama.cpp", "lists none", machine.devices_source))
    elif asked is not None:
        lines.append(_line("llama.cpp", asked))
    text = "That is a normal result: models run on the CPU."
    return Tile("noGpu", "GPU", "None found", text, lines=tuple(lines))


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
    title = machine.text("cpu.model") or "Model not known"
    return Tile("cpu", "CPU", title, lines=tuple(lines))


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
    limit, limit_used = machine.number("memory.limit"), machine.number("memory.limit_used")
    swap, swap_used = machine.fact("swap.total"), machine.number("swap.used")
    left = None if limit is None or limit_used is None else max(0, limit - limit_used)
    swap_total = _bytes(swap)
    swap_free = None if swap_total is None or swap_used is None else swap_total - swap_used
    bars = (
        memory_bar("RAM", _bytes(total), _bytes(free), _source(total), "available"),
        memory_bar("Container limit", limit, left, _source(machine.fact("memory.limit"))),
        memory_bar("Swap", swap_total, swap_free, _source(swap)),
    )
    lines = []
    if bars[0] is None and total is not None:
        lines.append(_line("RAM", total))
    if bars[1] is None:
        text = units.gib(limit) if limit is not None else "none"
        lines.append(Line("Container limit", text, _source(machine.fact("memory.limit"))))
    if bars[2] is None and swap is not None:
        lines.append(_line("Swap", swap))
    for label, path in (("Channels in use", "memory.channels"), ("Speed set", "memory.speed")):
        fact = machine.fact(path)
        if fact is not None and fact.reading.value is not None:
            lines.append(_line(label, fact))
    lines.append(_read_rate(machine))
    waited = machine.fact("pressure.memory.some")
    if waited is not None and waited.reading.value is not None:
        text = f"{fact_words.value(waited)} of the last 10 s"
        lines.append(Line("Waited for memory", text, _source(waited)))
    shown = tuple(bar for bar in bars if bar is not None)
    return Tile("memory", "Memory", units.gib(_bytes(total)), bars=shown, lines=tuple(lines))


def _read_rate(machine: Machine) -> Line:
    """Return the host's read bandwidth: measured here, else what the modules could give."""
    measured, theory = machine.fact("memory.read_bandwidth"), machine.fact("memory.bandwidth")
    if measured is not None:
        low, high = (machine.number(f"memory.read_bandwidth_{end}") for end in ("low", "high"))
        text = f"{units.bandwidth(low)} to {units.bandwidth(high)} (measured)"
        return Line("Read bandwidth", text, measured.reading.source)
    if theory is not None and theory.reading.value is not None:
        text = f"{fact_words.value(theory)} (calculated)"
        return Line("Read bandwidth", text, theory.reading.source)
    return Line("Read bandwidth", "not measured yet", "", True)


def _source(fact: MachineFact | None) -> str:
    return fact.reading.source if fact else ""


def _line(label: str, fact: MachineFact) -> Line:
    is_missing = fact.reading.value is None
    return Line(label, fact_words.value(fact), fact.reading.source, is_missing)


def _bytes(fact: MachineFact | None) -> int | None:
    value = fact.reading.value if fact else None
    return value if isinstance(value, int) else None
