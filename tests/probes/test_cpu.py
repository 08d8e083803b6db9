"""The CPU probe on Linux and Windows: classes of cores, instruction sets, quotas."""

from app.core import facts
from app.core.host import Basics
from app.core.machine import Machine
from app.core.reading import State
from app.probes import cpu
from tests.hosts import FakeHost, fake_host, sample

CPUS = "/sys/devices/system/cpu"


def _machine(host: FakeHost) -> Machine:
    return Machine(facts=facts.join([cpu.read(host)]))


def _siblings(groups: list[list[int]]) -> dict[str, str]:
    return {
        f"{CPUS}/cpu{number}/topology/thread_siblings_list": ",".join(map(str, group)) + "\n"
        for group in groups
        for number in group
    }


def _hybrid() -> dict[str, str]:
    """Eight performance cores with two threads, sixteen efficiency cores (lscpu-hybrid.txt)."""
    pairs = [[n, n + 1] for n in range(0, 16, 2)]
    files = _siblings([*pairs, *([n] for n in range(16, 32))])
    for line in sample("lscpu-hybrid.txt").splitlines():
        path, _, text = line.rpartition(":")
        if text != "(absent)" and path.endswith("/cpus"):
            files[path] = f"{text}\n"
    return files


def test_counts_cores_and_sets_of_a_recorded_machine() -> None:
    machine = _machine(fake_host("vm-llvmpipe"))
    assert machine.text("cpu.model") == "AMD EPYC"
    assert (machine.number("cpu.physical"), machine.number("cpu.logical")) == (2, 2)
    assert machine.number("cpu.usable") == 2
    assert machine.words("cpu.instruction_sets") == (
        "avx", "avx2", "f16c", "fma", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni",
        "avx512_bf16",
    )  # fmt: skip
    efficiency = machine.fact("cpu.efficiency_cores")
    assert efficiency and efficiency.reading.state is State.ABSENT
    assert machine.number("cpu.fast_cores") == 2


def test_splits_intel_cores_by_class_when_the_kernel_names_them() -> None:
    machine = _machine(FakeHost(files=_hybrid()))
    assert machine.number("cpu.physical") == 24
    assert machine.number("cpu.logical") == 32
    assert machine.number("cpu.performance_cores") == 8
    assert machine.number("cpu.efficiency_cores") == 16
    assert machine.number("cpu.fast_cores") == 8
    assert machine.words("cpu.core_classes") == ("Performance: 8", "Efficiency: 16")


def test_splits_arm_cores_by_capacity() -> None:
    files = _siblings([[n] for n in range(6)])
    for number in range(6):
        files[f"{CPUS}/cpu{number}/cpu_capacity"] = "1024\n" if number < 2 else "446\n"
    machine = _machine(FakeHost(files=files))
    assert machine.words("cpu.core_classes") == ("Capacity 1024: 2", "Capacity 446: 4")
    assert machine.number("cpu.fast_cores") == 2
    named = machine.fact("cpu.performance_cores")
    assert named and named.reading.state is State.ABSENT


def test_splits_dense_cores_by_top_frequency_but_not_favoured_ones() -> None:
    files = _siblings([[n] for n in range(6)])
    for number, khz in enumerate(
        (5_100_000, 4_900_000, 3_500_000, 3_500_000, 3_500_000, 3_500_000)
    ):
        files[f"{CPUS}/cpu{number}/cpufreq/cpuinfo_max_freq"] = f"{khz}\n"
    assert _machine(FakeHost(files=files)).words("cpu.core_classes") == (
        "MHz 5100: 2",
        "MHz 3500: 4",
    )
    for number in range(6):
        files[f"{CPUS}/cpu{number}/cpufreq/cpuinfo_max_freq"] = f"{6_000_000 - number * 50_000}\n"
    assert _machine(FakeHost(files=files)).words("cpu.core_classes") is None


def test_reads_the_sets_that_matter_from_a_real_flags_line() -> None:
    line = next(row for row in sample("lscpu-flags-vm.txt").splitlines() if row.startswith("Flags"))
    flags = line.partition(":")[2]
    sets = cpu.cpuinfo_sets(f"processor\t: 0\nflags\t\t:{flags}\n")
    assert sets is not None
    assert {"amx_tile", "amx_int8", "amx_bf16", "avx512_bf16", "avx_vnni"} <= set(sets)
    assert "sse4_2" not in sets


def test_reads_arm_features_and_names_the_board() -> None:
    cpuinfo = (
        "processor\t: 0\nFeatures\t: fp asimd asimddp i8mm bf16 sve\nCPU implementer\t: 0x41\n"
    )
    board = {"/proc/cpuinfo": cpuinfo, "/proc/device-tree/model": "NVIDIA Jetson AGX Orin\0"}
    machine = _machine(FakeHost(files=board))
    assert machine.words("cpu.instruction_sets") == ("asimd", "asimddp", "i8mm", "bf16", "sve")
    assert machine.text("cpu.model") == "NVIDIA Jetson AGX Orin"


def test_says_missing_when_cpuinfo_is_not_there() -> None:
    machine = _machine(FakeHost())
    for path in ("cpu.model", "cpu.instruction_sets", "cpu.physical"):
        fact = machine.fact(path)
        assert fact and fact.reading.state is State.MISSING and fact.reading.value is None


def test_counts_only_the_cpus_this_process_may_use() -> None:
    files = _siblings([[n] for n in range(8)])
    files["/proc/self/status"] = "Name:\tx\nCpus_allowed:\t07\nCpus_allowed_list:\t0-2\n"
    machine = _machine(FakeHost(files=files))
    assert (machine.number("cpu.usable"), machine.number("cpu.logical")) == (3, 8)


def test_reads_the_quota_of_a_container() -> None:
    version_2 = {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "150000 100000\n"}
    fact = _machine(FakeHost(files=version_2)).fact("cpu.quota")
    assert fact and fact.reading.value == 1.5
    version_1 = {
        "/proc/self/cgroup": "4:cpu,cpuacct:/docker/abc\n",
        "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
        "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }
    fact = _machine(FakeHost(files=version_1)).fact("cpu.quota")
    assert fact and fact.reading.value == 2.0


def test_finds_no_quota_when_none_is_set() -> None:
    for text in ("max 100000\n", "-1 100000\n", "", "0 0\n", "x y z\n"):
        files = {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": text}
        fact = _machine(FakeHost(files=files)).fact("cpu.quota")
        assert fact and fact.reading.state is State.ABSENT


def test_reads_windows_from_its_own_calls() -> None:
    basics = Basics(
        cpu_name="AMD Ryzen 7 5800X", logical=16, physical=8, instruction_sets=("avx", "avx2")
    )
    machine = _machine(FakeHost(platform="win32", basics=basics))
    assert machine.text("cpu.model") == "AMD Ryzen 7 5800X"
    assert machine.number("cpu.physical") == 8
    assert machine.words("cpu.instruction_sets") == ("avx", "avx2")
