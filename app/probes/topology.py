"""Sockets, NUMA nodes and caches of the CPU on Linux; a virtual machine's caches are its host's."""

import re

from app.core import facts, units
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes.text import cpu_list, table, whole

_CPUS = "/sys/devices/system/cpu"
_NODES = "/sys/devices/system/node"
_KIB = re.compile(r"([0-9]{1,9})([KM])")
_MAX_CPUS = 1024
_MOST_KHZ = 20_000_000


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return cpu.is_virtual, sockets, numa_nodes and caches; Linux only."""
    if host.platform() != "linux":
        return ()
    is_virtual = is_virtual_machine(host)
    cpus = tuple(name for name in host.list_dir(_CPUS) if re.fullmatch(r"cpu[0-9]{1,5}", name))
    packages = {
        whole(host.read_text(f"{_CPUS}/{cpu}/topology/physical_package_id"))
        for cpu in cpus[:_MAX_CPUS]
    } - {None, -1}
    nodes = [name for name in host.list_dir(_NODES) if re.fullmatch(r"node[0-9]{1,4}", name)]
    # nodes without a CPU are memory only (CXL, high-bandwidth memory)
    with_cpus = [n for n in nodes if cpu_list(host.read_text(f"{_NODES}/{n}/cpulist"))]
    found = [
        facts.known("cpu.is_virtual", is_virtual, source="/proc/cpuinfo, /sys/class/dmi"),
        _count("cpu.sockets", len(packages), f"{_CPUS}/cpu*/topology/physical_package_id"),
        _count("cpu.numa_nodes", len(with_cpus), f"{_NODES}/node*/cpulist"),
    ]
    return (
        *found,
        *_smt(host, cpus),
        *_clocks(host, cpus),
        *_caches(host, cpus, is_virtual=is_virtual),
    )


def _smt(host: Host, cpus: tuple[str, ...]) -> list[MachineFact]:
    """Tell whether a core runs two threads; a virtual machine hides it by listing none."""
    siblings = [
        cpu_list(host.read_text(f"{_CPUS}/{cpu}/topology/thread_siblings_list"))
        for cpu in cpus[:_MAX_CPUS]
    ]
    if not any(siblings):
        return []
    source = f"{_CPUS}/cpu*/topology/thread_siblings_list"
    has_smt = any(len(group) > 1 for group in siblings)
    return [facts.known("cpu.has_smt", has_smt, source=source)]


def _clocks(host: Host, cpus: tuple[str, ...]) -> list[MachineFact]:
    """Return the highest clock now and at most; each core may have its own."""
    found = []
    for path, file in (("cpu.clock", "scaling_cur_freq"), ("cpu.clock_max", "cpuinfo_max_freq")):
        source = f"{_CPUS}/cpu*/cpufreq/{file}"
        values = [
            value
            for cpu in cpus[:_MAX_CPUS]
            if (value := whole(host.read_text(f"{_CPUS}/{cpu}/cpufreq/{file}")))
        ]
        kilohertz = max(values, default=0)
        if 0 < kilohertz < _MOST_KHZ:
            found.append(facts.known(path, kilohertz // 1000, source=source, unit="MHz"))
        else:
            reason = "the kernel does not tell it (normal in a virtual machine)"
            found.append(
                facts.missing(path, State.UNSUPPORTED, source=source, reason=reason, unit="MHz")
            )
    return found


def is_virtual_machine(host: Host) -> bool:
    """Tell whether a hypervisor runs us: the CPU's flag, or the maker's name of the board."""
    flags = table(host.read_text("/proc/cpuinfo", 1 << 16)).get("flags", "")
    if "hypervisor" in flags.split():
        return True
    board = " ".join(
        host.read_text(f"/sys/class/dmi/id/{name}") or "" for name in ("sys_vendor", "product_name")
    ).lower()
    return any(word in board for word in ("qemu", "kvm", "vmware", "virtualbox", "xen", "virtual "))


def cache_bytes(text: str | None) -> int | None:
    """Return the size of a cache file such as 2048K, None for anything else."""
    match = _KIB.fullmatch((text or "").strip())
    if match is None:
        return None
    return int(match[1]) * (units.KIB if match[2] == "K" else units.MIB)


def _caches(host: Host, cpus: tuple[str, ...], *, is_virtual: bool) -> list[MachineFact]:
    """Return the sums over the distinct caches of levels 2 and 3."""
    sizes: dict[int, dict[str, int]] = {2: {}, 3: {}}
    for cpu in cpus[:_MAX_CPUS]:
        folder = f"{_CPUS}/{cpu}/cache"
        for index in host.list_dir(folder):
            level = whole(host.read_text(f"{folder}/{index}/level"))
            size = cache_bytes(host.read_text(f"{folder}/{index}/size"))
            if level in sizes and size:
                shared = (host.read_text(f"{folder}/{index}/shared_cpu_list") or cpu).strip()
                sizes[level][shared] = size
    source = f"{_CPUS}/cpu*/cache"
    if is_virtual:  # a guest with 2 CPUs reports the 480 MiB of its host's socket
        source += " (a virtual machine: shared with others on the host)"
    found = []
    for level, by_cpus in sizes.items():
        path = f"cpu.cache_l{level}"
        if by_cpus:
            total = sum(by_cpus.values())
            found.append(facts.known(path, total, source=source, unit="bytes"))
        else:
            reason = "the kernel does not tell it"
            found.append(
                facts.missing(path, State.MISSING, source=source, reason=reason, unit="bytes")
            )
    return found


def _count(path: str, number: int, source: str) -> MachineFact:
    if number:
        return facts.known(path, number, source=source)
    return facts.missing(path, State.MISSING, source=source, reason="the kernel does not tell it")


PROBE = Probe("CPU topology", read)
