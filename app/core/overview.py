"""What limits a machine for language models, in a headline and three sentences from its facts."""

from dataclasses import dataclass

from app.core import speed_words, units
from app.core.gpus import Gpu, GpuKind, driver_fact, gpus
from app.core.host_memory import host_of
from app.core.machine import Device, Machine
from app.core.reading import State

_SLOW_MEMORY = 0.95  # below it a profile is off, not a rounding of speeds
_LOW_PRESSURE = 10.0  # per cent of 10 s in which some program waited for memory


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the paths of the facts it was made from."""

    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A headline, then: where weights are read, how much room there is, what else can bite."""

    headline: str
    sentences: tuple[Sentence, Sentence, Sentence]


def overview(machine: Machine) -> Overview:
    """Say what limits a machine; every figure is one of its facts."""
    headline, where = _where(machine)
    return Overview(headline, (where, _room(machine), _else(machine)))


def fast_cores(machine: Machine) -> int | None:
    """Return the physical cores of the fastest class: a good number of threads."""
    return machine.number("cpu.fast_cores") or machine.number("cpu.physical")


def is_asked(machine: Machine) -> bool:
    """Tell whether a llama.cpp program listed its devices, none among them counts too."""
    return bool(machine.devices_source)


def _where(machine: Machine) -> tuple[str, Sentence]:
    found = gpus(machine)
    usable = [gpu for gpu in found if gpu.is_real and gpu.devices]
    idle = [gpu for gpu in found if gpu.is_real and not gpu.devices]
    names = (gpu.path("name") for gpu in found if gpu.index is not None)
    paths = ("gpu.count", "llama.devices", *names)
    speed, more = speed_words.on_gpus(machine, usable)
    if not usable and not idle:
        speed, more = speed_words.on_host(machine)
    if usable:
        headline, text = _usable(machine, usable)
    elif idle and is_asked(machine):
        headline = "A GPU is there, but llama.cpp cannot use it"
        text = (
            f"The driver reports {_names(idle)}, but llama.cpp lists no such device, so the CPU "
            "does the work: choose a build of llama.cpp for this card (CUDA, ROCm or Vulkan)."
        )
    elif idle:
        headline = "A GPU is there; whether llama.cpp can use it is not known"
        text = (
            f"The driver reports {_names(idle)}{_driver_memory(machine, idle)}, but no llama.cpp "
            "program was found that could say whether it can use it."
        )
    else:
        headline, text = _without_gpu(machine, found)
    return headline, Sentence(f"{text}{speed}", (*paths, *more))


def _usable(machine: Machine, found: list[Gpu]) -> tuple[str, str]:
    # llama.cpp leaves a GPU that shares memory out where there is a card (placement.md 1.2)
    usable = [gpu for gpu in found if gpu.kind is GpuKind.CARD] or found
    left_out = [gpu for gpu in found if gpu not in usable]
    listed = [gpu.devices[0] for gpu in usable]
    free = [device.free_bytes for device in listed]
    if all(gpu.kind is GpuKind.SHARED for gpu in usable):
        device = listed[0]
        headline = "A GPU that shares the computer's memory"
        text = (
            f"llama.cpp can use {_named(usable[0])}, which works in the computer's memory: "
            f"llama.cpp counts {units.gib(device.total_bytes)} for it, {_free(machine, device)}."
        )
        return headline, text
    total = sum(device.total_bytes or 0 for device in listed)
    left = None if None in free else sum(size or 0 for size in free)
    count = "One GPU" if len(usable) == 1 else f"{len(usable)} GPUs"
    headline = f"{count} with {units.gib(left)} free"
    together = "" if len(usable) == 1 else " together"
    text = (
        f"llama.cpp can use {_and(tuple(map(_named, usable)))}, with {units.gib(left)} of "
        f"{units.gib(total)} free{together}: layers that fit there are computed there, all others "
        "wait for the CPU and system memory."
    )
    if left_out:
        text += (
            f" It leaves out {_and(tuple(map(_named, left_out)))}, which shares the computer's "
            "memory."
        )
    return headline, text


def _free(machine: Machine, device: Device) -> str:
    """Return what is free for a GPU that works in the computer's memory.

    Metal and sums of heaps leave out what other programs hold: the computer's figure is the limit.
    """
    free, available = device.free_bytes, host_of(machine).available_bytes
    if free is not None and available is not None and free > available:
        return f"but only {units.gib(available)} of the memory are free now"
    return f"{units.gib(free)} of them free now"


def _without_gpu(machine: Machine, found: tuple[Gpu, ...]) -> tuple[str, str]:
    cpu = "the CPU does the work and reads the weights from system memory for every token"
    remote = [gpu for gpu in found if gpu.kind is GpuKind.REMOTE]
    software = [gpu for gpu in found if gpu.kind is GpuKind.SOFTWARE]
    if remote:
        names = _and(tuple(map(_named, remote)))
        return (
            "No GPU here; llama.cpp can use another computer",
            f"No GPU was found in this computer; llama.cpp can use {names} over the network, "
            "which is then part of every token's way.",
        )
    if software:
        return (
            "No GPU: the CPU reads the weights from system memory",
            f"No driver reports a GPU, and {software[0].devices[0].id}, which llama.cpp lists, is "
            f"software that runs on the CPU ({software[0].name}): either way {cpu}.",
        )
    count = machine.fact("gpu.count")
    if count is not None and count.reading.state is not State.ABSENT:
        return (
            "Whether there is a GPU could not be found out",
            f"The GPU drivers gave no answer ({count.reading.reason}). Without one, {cpu}.",
        )
    if is_asked(machine):
        return (
            "No GPU: the CPU reads the weights from system memory",
            f"No driver reports a GPU and llama.cpp lists none, so {cpu}.",
        )
    return (
        "No GPU found: the CPU reads the weights from system memory",
        f"No driver reports a GPU, and no llama.cpp program was found to ask; without a GPU {cpu}.",
    )


def _room(machine: Machine) -> Sentence:
    paths = ("memory.total", "memory.available", "memory.limit", "memory.limit_used")
    host = host_of(machine)
    total = machine.number("memory.total")
    limit = machine.number("memory.limit")
    if host.available_bytes is None:
        return Sentence("How much system memory is free could not be read.", paths)
    free = units.gib(host.available_bytes)
    if limit is not None and total is not None and limit < total:
        text = (
            f"Programs here may use {units.gib(limit)} of the computer's {units.gib(total)} (a "
            f"limit of the container or service); {free} are free for what is not on a GPU."
        )
        return Sentence(text, paths)
    usable = [gpu for gpu in gpus(machine) if gpu.is_real and gpu.devices]
    what = "the model, its context and all else"
    if usable:
        is_shared = all(gpu.kind is GpuKind.SHARED for gpu in usable)
        what = "GPU and CPU together" if is_shared else "what does not fit on the GPU"
    of = f"the {units.gib(total)} that Windows gives WSL" if machine.flag("os.is_wsl") else ""
    of = of or f"{units.gib(total)} system memory"
    return Sentence(f"{free} of {of} are free for {what}.", paths)


def _else(machine: Machine) -> Sentence:
    """Return the first that applies, the one that costs most first."""
    return (
        _translated(machine)
        or _cpu_limit(machine)
        or _waiting(machine)
        or _battery(machine)
        or _raised_limit(machine)
        or _modules(machine)
        or _swap(machine)
    )


def _translated(machine: Machine) -> Sentence | None:
    """Say that the llama.cpp that is used is made for another processor."""
    first = next((runtime for runtime in machine.runtimes if runtime.id == "llama.cpp"), None)
    if first is None or not first.is_translated:
        return None
    text = (
        "This llama.cpp is built for Intel: Rosetta translates it, its CPU code is slow, and it "
        "has no Metal. Install the build for Apple silicon (arm64)."
    )
    return Sentence(text, ("os.arch",))


def _cpu_limit(machine: Machine) -> Sentence | None:
    quota = machine.fact("cpu.quota")
    cores = fast_cores(machine)
    value = quota.reading.value if quota else None
    if isinstance(value, int | float) and cores is not None and value < cores:
        text = (
            f"A CPU quota gives programs here the time of {value:g} CPUs, though the computer has "
            f"{cores} cores: more threads than that slow each other down."
        )
        return Sentence(text, ("cpu.quota", "cpu.physical"))
    sets = machine.words("cpu.instruction_sets")
    if sets is not None and "avx2" not in sets and machine.text("os.arch") in ("x86_64", "AMD64"):
        text = (
            "This CPU has no AVX2, which most builds of llama.cpp are made for: such a build stops "
            "at its start, and one that runs is slow."
        )
        return Sentence(text, ("cpu.instruction_sets", "os.arch"))
    return None


def _waiting(machine: Machine) -> Sentence | None:
    fact = machine.fact("pressure.memory.some")
    share = fact.reading.value if fact else None
    if isinstance(share, int | float) and share >= _LOW_PRESSURE:
        text = (
            f"Programs waited for memory in {share:.0f} % of the last ten seconds: close what is "
            "not needed before you load a model."
        )
        return Sentence(text, ("pressure.memory.some",))
    return None


def _battery(machine: Machine) -> Sentence | None:
    if machine.flag("power.is_mains") is not False:
        return None
    text = (
        "It runs on battery, where processors and cards are held down: plug it in before you "
        "measure or judge speed."
    )
    return Sentence(text, ("power.is_mains", "power.battery", "power.profile"))


def _raised_limit(machine: Machine) -> Sentence | None:
    """Say what a raised share of a Mac's GPU leaves for the rest."""
    limit, total = machine.number("gpu.0.memory_limit"), machine.number("memory.total")
    if limit is None or total is None or machine.text("gpu.0.vendor") != "Apple":
        return None
    paths = ("gpu.0.memory_limit", "memory.total")
    if limit >= total:
        text = (
            f"The GPU's share is set to {units.gib(limit)}, all of the computer's memory: macOS "
            "itself can run out of it. Leave it at least 4 GB."
        )
        return Sentence(text, paths)
    text = (
        f"The GPU's share was set to {units.gib(limit)} of {units.gib(total)} by hand: the rest "
        "must do for macOS and all other programs, and the next start undoes it."
    )
    return Sentence(text, paths)


def _modules(machine: Machine) -> Sentence | None:
    """Say that memory is slower than it could be; both are cheap to mend."""
    speed, rated = machine.number("memory.speed"), machine.number("memory.speed_rated")
    paths = ("memory.modules", "memory.channels", "memory.speed", "memory.speed_rated")
    if machine.number("memory.channels") == 1 and len(machine.words("memory.modules") or ()) == 1:
        text = (
            "Memory has one module in one channel: a second one like it doubles the speed at "
            "which the CPU reads weights, on most boards."
        )
        return Sentence(text, paths)
    if speed is not None and rated is not None and speed < _SLOW_MEMORY * rated:
        text = (
            f"Memory runs at {speed:,} MT/s, though its modules are made for {rated:,}: switch on "
            "XMP or EXPO in the firmware, and the CPU reads weights faster."
        )
        return Sentence(text, paths)
    return None


def _swap(machine: Machine) -> Sentence:
    total = machine.fact("swap.total")
    used = machine.number("swap.used")
    paths = ("swap.total", "swap.used")
    if used:
        text = (
            f"{units.gib(used)} of {units.gib(machine.number('swap.total'))} swap are in use; only "
            "swap that moves while a model writes slows it down."
        )
    elif total is not None and total.reading.state is State.ABSENT:
        text = "No swap is set up: when memory runs out, the system ends a program at once."
    elif machine.number("swap.total") is None:
        text = "How much swap is in use could not be read."
    else:
        text = "Swap is empty: nothing had to be moved out of memory."
    return Sentence(text, paths)


def _driver_memory(machine: Machine, found: list[Gpu]) -> str:
    fact = driver_fact(machine, found[0], "memory_total")
    value = fact.reading.value if fact else None
    if len(found) > 1 or not isinstance(value, int):
        return ""
    return f" with {units.gib(value)}"


def _named(gpu: Gpu) -> str:
    return f"{gpu.name} ({', '.join(device.id for device in gpu.devices)})"


def _names(found: list[Gpu]) -> str:
    return _and(tuple(gpu.name for gpu in found))


def _and(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
