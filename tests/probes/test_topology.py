"""Sockets, NUMA nodes and caches, and the caches that a virtual machine does not own."""

import pytest

from app.core.machine import Machine
from app.core.reading import State
from app.core.units import MIB
from app.probes import topology
from tests.hosts import FakeHost

CPUS = "/sys/devices/system/cpu"


def _files(n_cpus: int, per_socket: int) -> dict[str, str]:
    files = {}
    for cpu in range(n_cpus):
        socket = cpu // per_socket
        files[f"{CPUS}/cpu{cpu}/topology/physical_package_id"] = f"{socket}\n"
        for index, (level, size, shared) in enumerate(
            ((1, "48K", f"{cpu}"), (2, "2048K", f"{cpu}"), (3, "96M", f"s{socket}"))
        ):
            folder = f"{CPUS}/cpu{cpu}/cache/index{index}"
            files |= {
                f"{folder}/level": f"{level}\n",
                f"{folder}/size": f"{size}\n",
                f"{folder}/shared_cpu_list": f"{shared}\n",
            }
    for node in range(n_cpus // per_socket):
        files[f"/sys/devices/system/node/node{node}/cpulist"] = f"{node * per_socket}\n"
    return files


def _machine(files: dict[str, str]) -> Machine:
    return Machine(facts=topology.read(FakeHost(files=files)))


def test_counts_each_cache_once() -> None:
    machine = _machine(_files(8, 4))
    assert machine.number("cpu.sockets") == 2
    assert machine.number("cpu.numa_nodes") == 2
    assert machine.number("cpu.cache_l2") == 16 * MIB
    assert machine.number("cpu.cache_l3") == 192 * MIB
    assert machine.flag("cpu.is_virtual") is False


def test_a_node_with_memory_only_is_no_node_of_the_cpu() -> None:
    files = {**_files(4, 4), "/sys/devices/system/node/node1/cpulist": "\n"}
    assert _machine(files).number("cpu.numa_nodes") == 1


def test_a_virtual_machines_cache_carries_its_caveat() -> None:
    files = {**_files(2, 2), "/proc/cpuinfo": "flags\t\t: fpu hypervisor avx2\n"}
    machine = _machine(files)
    assert machine.flag("cpu.is_virtual") is True
    fact = machine.fact("cpu.cache_l3")
    assert fact and "virtual machine" in fact.reading.source


def test_a_virtual_board_without_the_flag_is_known_by_name() -> None:
    files = {"/sys/class/dmi/id/sys_vendor": "QEMU\n"}
    assert _machine(files).flag("cpu.is_virtual") is True


def test_missing_files_are_missing_facts() -> None:
    machine = _machine({})
    for path in ("cpu.sockets", "cpu.numa_nodes", "cpu.cache_l2", "cpu.cache_l3"):
        fact = machine.fact(path)
        assert fact and fact.reading.state is State.MISSING and fact.reading.value is None


def test_believes_no_odd_size() -> None:
    assert topology.cache_bytes("2048K\n") == 2 * MIB
    for text in (None, "", "K", "-1K", "2048", "99999999999K", "1G"):
        assert topology.cache_bytes(text) is None


def test_tells_threads_per_core_and_the_fastest_clock() -> None:
    files = {}
    for cpu in range(4):
        files[f"{CPUS}/cpu{cpu}/topology/thread_siblings_list"] = (
            f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}\n"
        )
        files[f"{CPUS}/cpu{cpu}/cpufreq/scaling_cur_freq"] = f"{800_000 + cpu * 1000}\n"
        files[f"{CPUS}/cpu{cpu}/cpufreq/cpuinfo_max_freq"] = "5200000\n"
    machine = _machine(files)
    assert machine.flag("cpu.has_smt") is True
    assert machine.number("cpu.clock") == 803
    assert machine.number("cpu.clock_max") == 5200
    single = {f"{CPUS}/cpu0/topology/thread_siblings_list": "0\n"}
    assert _machine(single).flag("cpu.has_smt") is False
    assert _machine({}).flag("cpu.has_smt") is None


@pytest.mark.parametrize("text", ["", "0", "-5", "fast", "9" * 30])
def test_an_odd_clock_is_missing(text: str) -> None:
    fact = _machine({f"{CPUS}/cpu0/cpufreq/scaling_cur_freq": text}).fact("cpu.clock")
    assert fact and fact.reading.state is State.UNSUPPORTED
