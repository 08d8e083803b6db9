"""The CPU: model, cores by class, instruction sets, and how much of it we may use."""

import re
from dataclasses import dataclass

from app.core import facts
from app.core.host import Basics, Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import cgroups
from app.probes.text import cpu_list, table, whole

CPUINFO = "/proc/cpuinfo"
_CPUS = "/sys/devices/system/cpu"
# the sets that ggml's CPU code asks for (hardware.md section 1), in the spelling of Linux
X86_SETS = (
    "avx", "avx2", "f16c", "fma", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni",
    "avx512_bf16", "amx_tile", "amx_int8", "amx_bf16",
)  # fmt: skip
ARM_SETS = ("asimd", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme")
_MAX_CPUS = 4096
# by Windows' efficiency class, the fastest first
_WINDOWS_CLASSES = ("Performance", "Efficiency", "Low power")
# AMD's dense cores differ only in their top frequency, by about a third; favoured cores of one
# class differ by a few per cent
_SAME_CLASS = 0.85


@dataclass(frozen=True, slots=True)
class CoreClass:
    """Cores of one kind, by the name their maker gives them; the fastest class comes first."""

    name: str
    cores: int


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return cpu.* facts of Linux and Windows; macOS has its own probe."""
    if host.platform() == "linux":
        return _linux(host)
    return _windows(host.basics()) if host.platform() == "win32" else ()


def class_facts(classes: tuple[CoreClass, ...], source: str) -> tuple[MachineFact, ...]:
    """Return the cores by class; a class that this CPU has not is absent, not zero."""
    found = [
        facts.known("cpu.fast_cores", classes[0].cores, source=source),
        facts.known(
            "cpu.core_classes", tuple(f"{c.name}: {c.cores}" for c in classes), source=source
        ),
    ]
    for path, name in (
        ("cpu.performance_cores", "performance"),
        ("cpu.efficiency_cores", "efficiency"),
    ):
        cores = next((c.cores for c in classes if c.name.lower() == name), None)
        if cores is not None:
            found.append(facts.known(path, cores, source=source))
            continue
        reason = f"this CPU names no cores {name}"
        found.append(facts.missing(path, State.ABSENT, source=source, reason=reason))
    return tuple(found)


def instruction_sets(names: frozenset[str]) -> tuple[str, ...]:
    """Return those of the sets that matter to ggml, in a fixed order."""
    return tuple(name for name in X86_SETS + ARM_SETS if name in names)


def cpuinfo_sets(text: str) -> tuple[str, ...] | None:
    """Return the instruction sets of /proc/cpuinfo, None when it has no such line."""
    lines = table(text)
    found = lines.get("flags") or lines.get("Features")
    return None if found is None else instruction_sets(frozenset(found.split()))


def _linux(host: Host) -> tuple[MachineFact, ...]:
    basics = host.basics()
    text = host.read_text(CPUINFO, 4 << 20) or ""
    sets = cpuinfo_sets(text)
    cpus = _cpu_numbers(host)
    siblings = {cpu: _siblings(host, cpu) for cpu in cpus}
    found = [_model(host, text), _physical(siblings, basics)]
    logical = len(cpus) or basics.logical
    found.append(_number("cpu.logical", logical, _CPUS if cpus else basics.source))
    found.extend(_usable(host, logical))
    if sets is None:
        reason = f"{CPUINFO} has no flags or Features line"
        found.append(
            facts.missing("cpu.instruction_sets", State.MISSING, source=CPUINFO, reason=reason)
        )
    else:
        found.append(facts.known("cpu.instruction_sets", sets, source=CPUINFO))
    classes, source = core_classes(host, siblings)
    if classes:
        found.extend(class_facts(classes, source))
    else:
        # as many threads as the fastest class has cores is the advice; here that is all of them
        found.append(MachineFact("cpu.fast_cores", found[1].reading))
        reason = "the cores are all alike, or a virtual machine hides the difference"
        found.extend(
            facts.missing(path, State.ABSENT, source=_CPUS, reason=reason)
            for path in ("cpu.performance_cores", "cpu.efficiency_cores")
        )
    return tuple(found)


def core_classes(
    host: Host, siblings: dict[int, tuple[int, ...]]
) -> tuple[tuple[CoreClass, ...], str]:
    """Return the classes of cores and where they are told; empty when all are alike."""
    intel = [
        CoreClass(name, _cores(cpu_list(host.read_text(f"/sys/devices/{folder}/cpus")), siblings))
        for name, folder in (
            ("Performance", "cpu_core"),
            ("Efficiency", "cpu_atom"),
            ("Low power", "cpu_lowpower"),
        )
    ]
    present = tuple(item for item in intel if item.cores)
    if len(present) > 1:
        return present, "/sys/devices/cpu_core, cpu_atom"
    for name, file in (("Capacity", "cpu_capacity"), ("MHz", "cpufreq/cpuinfo_max_freq")):
        speeds = {cpu: whole(host.read_text(f"{_CPUS}/cpu{cpu}/{file}")) for cpu in siblings}
        groups = _by_speed({cpu: speed for cpu, speed in speeds.items() if speed})
        if len(groups) > 1 and None not in speeds.values():
            divisor = 1000 if name == "MHz" else 1
            classes = tuple(
                CoreClass(f"{name} {speed // divisor}", _cores(cpus, siblings))
                for speed, cpus in groups
            )
            return classes, f"{_CPUS}/cpu*/{file}"
    return (), _CPUS


def _by_speed(speeds: dict[int, int]) -> list[tuple[int, tuple[int, ...]]]:
    """Group CPUs whose speeds are close; the fastest group first, named by its fastest CPU."""
    groups: list[tuple[int, list[int]]] = []
    for cpu in sorted(speeds, key=lambda number: -speeds[number]):
        if groups and speeds[cpu] >= groups[-1][0] * _SAME_CLASS:
            groups[-1][1].append(cpu)
        else:
            groups.append((speeds[cpu], [cpu]))
    return [(speed, tuple(cpus)) for speed, cpus in groups]


def _cores(cpus: tuple[int, ...], siblings: dict[int, tuple[int, ...]]) -> int:
    return len({siblings.get(cpu) or (cpu,) for cpu in cpus})


def _cpu_numbers(host: Host) -> tuple[int, ...]:
    names = host.list_dir(_CPUS)
    return tuple(sorted(int(n[3:]) for n in names if re.fullmatch(r"cpu[0-9]{1,5}", n)))[:_MAX_CPUS]


def _siblings(host: Host, cpu: int) -> tuple[int, ...]:
    return cpu_list(host.read_text(f"{_CPUS}/cpu{cpu}/topology/thread_siblings_list"))


def _physical(siblings: dict[int, tuple[int, ...]], basics: Basics) -> MachineFact:
    known = {group for group in siblings.values() if group}
    if known:
        # as llama.cpp counts its default threads (common.cpp, build 11434)
        source = f"{_CPUS}/cpu*/topology/thread_siblings_list"
        return facts.known("cpu.physical", len(known), source=source)
    return _number("cpu.physical", basics.physical, basics.source)


def _usable(host: Host, logical: int | None) -> list[MachineFact]:
    status = "/proc/self/status"
    allowed = len(cpu_list(table(host.read_text(status)).get("Cpus_allowed_list")))
    found = [_number("cpu.usable", allowed or logical, status if allowed else _CPUS)]
    limit = cgroups.cpu_limit(host)
    if limit is None:
        reason = "no CPU quota is set on this group of programs"
        found.append(facts.missing("cpu.quota", State.ABSENT, source="cgroup", reason=reason))
    else:
        found.append(facts.known("cpu.quota", limit.cpus, source=limit.source, unit="CPUs"))
    return found


def _model(host: Host, cpuinfo: str) -> MachineFact:
    lines = table(cpuinfo)
    name = lines.get("model name") or lines.get("Model")  # Model: Raspberry Pi
    if name:
        return facts.known("cpu.model", name[:200], source=CPUINFO)
    board = (host.read_text("/proc/device-tree/model") or "").strip("\0 \n")
    if board:
        return facts.known("cpu.model", board[:200], source="/proc/device-tree/model")
    maker, part = lines.get("CPU implementer"), lines.get("CPU part")
    if maker and part:  # Arm servers: numbers only
        return facts.known("cpu.model", f"Arm CPU {maker}/{part}"[:60], source=CPUINFO)
    reason = f"{CPUINFO} does not name the CPU"
    return facts.missing("cpu.model", State.MISSING, source=CPUINFO, reason=reason)


def _windows_topology(basics: Basics) -> tuple[MachineFact, ...]:
    """Return classes, caches and sockets; nothing where Windows did not list its cores."""
    topology, source = basics.cpu_topology, "GetLogicalProcessorInformationEx"
    if topology is None:
        return ()
    found: list[MachineFact] = []
    cores = [count for _, count in topology.cores_by_class]
    if len(cores) > 1:
        classes = (CoreClass(n, c) for n, c in zip(_WINDOWS_CLASSES, cores, strict=False))
        found.extend(class_facts(tuple(classes), source))
    else:
        found.append(_number("cpu.fast_cores", basics.physical, basics.source))
        reason = "the cores are all alike, or a virtual machine hides the difference"
        found.extend(
            facts.missing(path, State.ABSENT, source=source, reason=reason)
            for path in ("cpu.performance_cores", "cpu.efficiency_cores")
        )
    found.append(facts.known("cpu.has_smt", topology.has_smt, source=source))
    for path, value, unit in (
        ("cpu.sockets", topology.sockets, ""),
        ("cpu.numa_nodes", topology.numa_nodes, ""),
        ("cpu.cache_l2", topology.l2_bytes, "bytes"),
        ("cpu.cache_l3", topology.l3_bytes, "bytes"),
    ):
        if value is not None:
            found.append(facts.known(path, value, source=source, unit=unit))
    return tuple(found)


def _windows(basics: Basics) -> tuple[MachineFact, ...]:
    name = basics.cpu_name
    sets = basics.instruction_sets
    not_told = "Windows does not tell it"
    return (
        facts.known("cpu.model", name, source="registry ProcessorNameString")
        if name
        else facts.missing("cpu.model", State.MISSING, source="registry", reason=not_told),
        _number("cpu.physical", basics.physical, basics.source),
        _number("cpu.logical", basics.logical, basics.source),
        facts.known("cpu.instruction_sets", sets, source="IsProcessorFeaturePresent")
        if sets is not None
        else facts.missing(
            "cpu.instruction_sets", State.MISSING, source="kernel32", reason=not_told
        ),
        *_windows_topology(basics),
    )


def _number(path: str, value: int | None, source: str) -> MachineFact:
    if value is not None:
        return facts.known(path, value, source=source)
    reason = "the operating system does not tell it"
    return facts.missing(path, State.MISSING, source=source, reason=reason)


PROBE = Probe("CPU", read)
