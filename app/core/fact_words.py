"""Facts in words: their names, their values with units, and how to get what is missing."""

import re

from app.core import units
from app.core.machine import Machine, MachineFact
from app.core.reading import State

_GPU = re.compile(r"gpu\.(\d+)\.(.+)")
_VULKAN = re.compile(r"vulkan\.(\d+)\.(.+)")
_GROUPS = {
    "os": "System",
    "cpu": "CPU",
    "memory": "Memory",
    "swap": "Memory",
    "pressure": "Memory",
    "llama": "llama.cpp",
    "power": "Power",
    "vulkan": "Vulkan",
}
_GPUS = "GPUs"
_ORDER = (_GPUS, "CPU", "Memory", "Power", "llama.cpp", "Vulkan", "System")
_TITLES = {
    "os.name": "Operating system",
    "os.arch": "Architecture",
    "os.kernel": "Kernel",
    "os.is_wsl": "Runs in WSL",
    "os.wsl_version": "WSL version",
    "os.wsl_gpu": "GPU passed to WSL",
    "os.wsl_memory": "Memory set for WSL (.wslconfig)",
    "os.wsl_processors": "CPUs set for WSL (.wslconfig)",
    "os.wsl_swap": "Swap set for WSL (.wslconfig)",
    "os.wsl_config": "Settings of WSL (.wslconfig)",
    "os.container": "Container",
    "os.is_translated": "Runs through Rosetta",
    "cpu.model": "Model",
    "cpu.physical": "Physical cores",
    "cpu.logical": "Logical CPUs",
    "cpu.usable": "CPUs we may use",
    "cpu.quota": "CPU quota",
    "cpu.instruction_sets": "Instruction sets",
    "cpu.fast_cores": "Fastest cores",
    "cpu.core_classes": "Kinds of cores",
    "cpu.performance_cores": "Performance cores",
    "cpu.efficiency_cores": "Efficiency cores",
    "cpu.is_virtual": "Virtual machine",
    "cpu.has_smt": "Two threads per core (SMT)",
    "cpu.clock": "Clock of the fastest core now",
    "cpu.clock_max": "Clock at most",
    "cpu.sockets": "Processors (sockets)",
    "cpu.numa_nodes": "NUMA nodes",
    "cpu.cache_l2": "Level 2 cache",
    "cpu.cache_l3": "Level 3 cache",
    "cpu.temperature": "Temperature",
    "cpu.throttle_count": "Times throttled since start",
    "cpu.speed_limit": "Speed limit by heat",
    "power.is_mains": "On mains power",
    "power.battery": "Battery charge",
    "power.profile": "Power profile",
    "power.heat": "Heat, as macOS judges it",
    "power.governor": "Frequency governor",
    "power.energy_preference": "Energy preference",
    "memory.modules": "Modules",
    "memory.channels": "Channels in use",
    "memory.speed": "Speed set",
    "memory.speed_rated": "Speed the modules could run at",
    "memory.bandwidth": "Bandwidth by speed and channels",
    "memory.total": "Total",
    "memory.available": "Available",
    "memory.limit": "Limit of container or service",
    "memory.limit_used": "Used of the limit",
    "memory.read_bandwidth": "Read bandwidth, measured",
    "memory.read_bandwidth_low": "Read bandwidth, low end",
    "memory.read_bandwidth_high": "Read bandwidth, high end",
    "memory.lock_limit": "May be locked in memory (--mlock)",
    "memory.compressed": "Compressed by macOS",
    "memory.spilled": "Of a runtime outside its card",
    "swap.total": "Swap",
    "swap.used": "Swap in use",
    "swap.limit": "Swap that a container may use",
    "pressure.memory.some": "Time some programs waited",
    "pressure.level": "Memory pressure",
    "pressure.free": "Free, as macOS judges it",
    "pressure.memory.full": "Time all programs waited",
    "gpu.count": "GPUs the drivers report",
    "nvidia.search": "NVIDIA",
    "amd.search": "AMD",
    "apple.search": "Apple",
    "intel.search": "Intel",
    "windows.search": "AMD, Intel and others",
    "llama.devices": "Devices llama.cpp lists",
    "vulkan.devices": "Devices vulkaninfo lists",
    "kind": "Kind of device",
    "vendor": "Maker",
    "name": "Name",
    "memory_total": "Memory",
    "memory_free": "Memory free",
    "memory_limit": "Limit set for the GPU",
    "gtt_total": "Memory it may borrow (GTT)",
    "gtt_used": "Borrowed now (GTT)",
    "shared_limit": "Memory it may borrow",
    "cores": "GPU cores",
    "working_set": "Working set that Metal recommends at most",
    "max_buffer": "Largest buffer",
    "memory_default": "Limit that macOS sets by itself, about",
    "gtt_limit": "Most it may borrow (ttm.pages_limit)",
    "memory_usable": "Memory it can really use",
    "resizable_bar": "Resizable BAR",
    "gfx": "Target name (gfx)",
    "access": "May be used by you",
    "busy": "In use",
    "temperature_junction": "Temperature of the hottest spot",
    "temperature_memory": "Temperature of its memory",
    "power": "Power now",
    "memory_base_clock": "Memory base clock",
    "visible_vram": "Memory the CPU can reach",
    "is_unified": "Shares the computer's memory",
    "temperature": "Temperature",
    "pcie_generation": "PCIe generation now",
    "pcie_generation_max": "PCIe generation at most",
    "pcie_width": "PCIe lanes now",
    "pcie_width_max": "PCIe lanes at most",
    "memory_busy": "Memory controller busy",
    "process_memory": "Memory of compute programs",
    "clock_reasons": "What holds the clock down",
    "driver_model": "Driver model",
    "addressing_mode": "Addressing mode",
    "neighbours": "Way to the other cards",
    "nvlinks": "Active NVLinks",
    "held_by_power": "Held down by the power limit since start",
    "held_by_heat": "Held down by heat since start",
    "ecc": "Error correction (ECC)",
    "is_split": "Split into parts (MIG)",
    "instances": "Memory of its parts",
    "performance_state": "Performance state (0 is fastest)",
    "compute_capability": "Compute capability",
    "memory_clock": "Memory clock now",
    "memory_clock_max": "Memory clock at most",
    "clock": "Clock now",
    "clock_max": "Clock at most",
    "memory_bus_width": "Memory bus",
    "bandwidth": "Memory bandwidth",
    "bandwidth_table": "Memory bandwidth in the table",
    "power_limit": "Power limit",
    "power_default": "Power limit as delivered",
    "driver": "Driver",
    "cuda": "CUDA version of the driver",
    "performance_level": "Performance level",
}
STATES = {
    State.KNOWN: "known",
    State.ABSENT: "none here",
    State.UNSUPPORTED: "not reported",
    State.DENIED: "no permission",
    State.MISSING: "not available",
    State.TIMEOUT: "no answer",
    State.ERROR: "failed",
}
_HOW = {
    "nvidia.search": "If this computer has an NVIDIA card, install NVIDIA's driver; in a container "
    "pass the card to it (--gpus all).",
    "amd.search": "If this computer has an AMD card, its amdgpu driver must be loaded; in a "
    "container pass /dev/kfd and /dev/dri to it.",
    "llama.devices": "Choose the folder with llama.cpp's programs on the Hardware tab, or put it "
    "on PATH.",
    "vulkan.devices": "Install vulkaninfo (Linux: the package vulkan-tools; Windows: in the Vulkan "
    "SDK) to see what Vulkan lists beside llama.cpp.",
    "pressure.memory.some": "Start Linux with the kernel option psi=1.",
    "pressure.memory.full": "Start Linux with the kernel option psi=1.",
    "os.wsl_gpu": "Update Windows' graphics driver, then run: wsl --update",
}
_RENDER = "Run `sudo usermod -aG render,video $USER` in a terminal, then log out and in again."
_DMIDECODE = (
    "Run `sudo dmidecode -t 17` in a terminal and paste what it prints into the field on the "
    "Hardware tab: it tells modules, channels and speed."
)
_HOW_STATES = {
    State.DENIED: "Ask the administrator for the right to read {source}.",
    State.TIMEOUT: "Detect again; if it stays silent, run {source} in a terminal and see what it "
    "says.",
    State.ERROR: "Detect again; if it fails again, restart the computer.",
}
# absent is an answer for most facts; for these it can also mean that something is not set up
_HOW_WHEN_ABSENT = frozenset({"nvidia.search", "amd.search", "os.wsl_gpu"} | {
    "pressure.memory.some", "pressure.memory.full",
})  # fmt: skip


def title(path: str) -> str:
    """Return a fact's name for people, without its group."""
    match = _GPU.fullmatch(path) or _VULKAN.fullmatch(path)
    name = match[2] if match else path
    known = _TITLES.get(name)
    if known:
        return known
    words = name.rpartition(".")[2].replace("_", " ")
    return words[:1].upper() + words[1:]


def group(machine: Machine, path: str) -> str:
    """Return the heading under which a fact stands."""
    match = _GPU.fullmatch(path)
    if match:
        name = machine.text(f"gpu.{match[1]}.name")
        return f"GPU {match[1]}: {name}" if name else f"GPU {match[1]}"
    match = _VULKAN.fullmatch(path)
    if match:
        return f"Vulkan {match[1]}: {machine.text(f'vulkan.{match[1]}.name') or 'no name'}"
    first = path.partition(".")[0]
    return _GROUPS.get(first, _GPUS if path == "gpu.count" or path.endswith(".search") else first)


def groups(machine: Machine) -> tuple[tuple[str, tuple[MachineFact, ...]], ...]:
    """Return the facts under their headings: GPUs, CPU, memory, runtime, system, the rest."""
    found: dict[str, list[MachineFact]] = {}
    # how many there are comes before how each maker's cards were looked for
    for fact in sorted(machine.facts, key=lambda fact: fact.path != "gpu.count"):
        found.setdefault(group(machine, fact.path), []).append(fact)
    cards = [heading for heading in found if heading.startswith("GPU ")]
    first = [*(h for h in _ORDER[:1] if h in found), *cards, *(h for h in _ORDER[1:] if h in found)]
    order = (*first, *(heading for heading in found if heading not in first))
    return tuple((heading, tuple(found[heading])) for heading in order)


def value(fact: MachineFact) -> str:
    """Return the value with its unit, or the reason why there is none."""
    reading = fact.reading
    if reading.value is None:
        return reading.reason or STATES[reading.state]
    return _known(reading.value, reading.unit)


def exact(fact: MachineFact) -> str:
    """Return the exact figure where the value is rounded, "" elsewhere."""
    reading = fact.reading
    if reading.unit == "bytes" and isinstance(reading.value, int):
        return f"{reading.value:,} bytes"
    return ""


def how_to_get(fact: MachineFact) -> str:
    """Return what to do about a missing fact, "" when there is nothing to do."""
    state = fact.reading.state
    if state is State.KNOWN or (state is State.ABSENT and fact.path not in _HOW_WHEN_ABSENT):
        return ""
    if fact.path.endswith(".access"):
        return _RENDER
    if fact.path == "memory.modules" and fact.reading.source.startswith("dmidecode"):
        return _DMIDECODE
    known = _HOW.get(fact.path)
    if known:
        return known
    return _HOW_STATES.get(state, "").format(source=fact.reading.source or "the program")


def _known(found: object, unit: str) -> str:
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, tuple):
        return ", ".join(found) if found else "none of those that matter"
    if isinstance(found, int | float):
        return _number(found, unit)
    return f"{found} {unit}".strip()


def _number(found: int | float, unit: str) -> str:
    if unit == "bytes":
        return units.size(found)
    if unit == "bytes/s":
        return units.bandwidth(found)
    if unit == "%":
        return f"{found:.1f} %"
    digits = f"{found:,}" if isinstance(found, int) else f"{found:,.4g}"
    return f"{digits} {unit}".strip()
