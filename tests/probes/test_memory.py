"""Memory, swap and pressure: units, container limits, and what absence means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import facts
from app.core.host import Basics
from app.core.machine import Machine
from app.core.probe import Probe
from app.core.reading import State
from app.core.units import GIB, MIB
from app.probes import memory, pressure, swap
from tests.hosts import FakeHost, answered, sample

SWAPUSAGE = ("sysctl", "-n", "vm.swapusage")


def _machine(host: FakeHost, probe: Probe) -> Machine:
    return Machine(facts=facts.join([probe.read(host)]))


def test_reads_kb_as_1024_bytes() -> None:
    host = FakeHost(files={"/proc/meminfo": sample("meminfo-linux.txt")})
    machine = _machine(host, memory.PROBE)
    assert machine.number("memory.total") == 24_684_084 * 1024
    assert machine.number("memory.available") == 23_035_212 * 1024
    limit = machine.fact("memory.limit")
    assert limit and limit.reading.state is State.ABSENT


def test_says_missing_when_meminfo_is_empty() -> None:
    for text in ("", "MemTotal: lots\n", "MemTotal: 12 MB\n", "MemTotal: -5 kB\n"):
        machine = _machine(FakeHost(files={"/proc/meminfo": text}), memory.PROBE)
        fact = machine.fact("memory.total")
        assert fact and fact.reading.state is State.MISSING and fact.reading.value is None


def test_takes_the_lowest_limit_up_to_the_root_in_version_2() -> None:
    group = "/sys/fs/cgroup/user.slice/app.scope"
    files = {
        "/proc/self/cgroup": "0::/user.slice/app.scope\n",
        f"{group}/memory.max": "max\n",
        "/sys/fs/cgroup/user.slice/memory.max": f"{8 * GIB}\n",
        "/sys/fs/cgroup/user.slice/memory.current": f"{5 * GIB}\n",
        "/sys/fs/cgroup/user.slice/memory.stat": f"anon 1\nfile 2\ninactive_file {3 * GIB}\n",
    }
    machine = _machine(FakeHost(files=files), memory.PROBE)
    assert machine.number("memory.limit") == 8 * GIB
    # page cache that goes first is not counted: a model read before is no lack of memory
    assert machine.number("memory.limit_used") == 2 * GIB


def test_reads_the_mount_itself_when_a_container_hides_its_group_in_version_1() -> None:
    files = {
        "/proc/self/cgroup": "9:memory:/docker/0123456789ab\n0::/\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes": f"{500 * MIB}\n",
    }
    machine = _machine(FakeHost(files=files), memory.PROBE)
    assert machine.number("memory.limit") == 2 * GIB
    assert machine.number("memory.limit_used") == 500 * MIB


def test_takes_the_huge_number_of_version_1_as_no_limit() -> None:
    files = {
        "/proc/self/cgroup": "9:memory:/\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    fact = _machine(FakeHost(files=files), memory.PROBE).fact("memory.limit")
    assert fact and fact.reading.state is State.ABSENT


def test_reads_other_systems_from_their_own_calls() -> None:
    basics = Basics(memory_total_bytes=32 * GIB, memory_available_bytes=20 * GIB)
    machine = _machine(FakeHost(platform="win32", basics=basics), memory.PROBE)
    assert machine.number("memory.total") == 32 * GIB
    assert machine.number("memory.available") == 20 * GIB


def test_says_absent_and_not_zero_when_there_is_no_swap() -> None:
    host = FakeHost(files={"/proc/meminfo": sample("meminfo-linux.txt")})
    for path in ("swap.total", "swap.used"):
        fact = _machine(host, swap.PROBE).fact(path)
        assert fact and fact.reading.state is State.ABSENT and fact.reading.value is None


def test_reads_used_swap_as_the_difference() -> None:
    host = FakeHost(files={"/proc/meminfo": "SwapTotal: 2097148 kB\nSwapFree: 1048572 kB\n"})
    machine = _machine(host, swap.PROBE)
    assert machine.number("swap.total") == 2_097_148 * 1024
    assert machine.number("swap.used") == 1 * GIB


@pytest.mark.parametrize("line", sample("swapusage.txt").splitlines())
def test_reads_swapusage_with_point_and_with_comma(line: str) -> None:
    text = line.removeprefix("vm.swapusage: ")
    host = FakeHost(platform="darwin", commands=(answered(*SWAPUSAGE, stdout=text),))
    machine = _machine(host, swap.PROBE)
    assert machine.number("swap.total") == 3072 * MIB
    assert machine.number("swap.used") == round(1801.25 * MIB)


def test_a_mac_with_no_swap_file_yet_is_known() -> None:
    text = "total = 0.00M  used = 0.00M  free = 0.00M  (encrypted)"
    host = FakeHost(platform="darwin", commands=(answered(*SWAPUSAGE, stdout=text),))
    assert _machine(host, swap.PROBE).number("swap.total") == 0


def test_reads_pressure_and_says_absent_without_it() -> None:
    host = FakeHost(files={"/proc/pressure/memory": sample("pressure-memory.txt")})
    fact = _machine(host, pressure.PROBE).fact("pressure.memory.some")
    assert fact and fact.reading.value == 0.0 and fact.reading.unit == "%"
    fact = _machine(FakeHost(), pressure.PROBE).fact("pressure.memory.full")
    assert fact and fact.reading.state is State.ABSENT and "PSI" in fact.reading.reason


def test_takes_both_lines_of_pressure() -> None:
    text = "some avg10=12.50 avg60=0.00 avg300=0.50 total=1\nfull avg10=3.25 avg60=0 total=8\n"
    assert pressure.parse(text) == {"some": 12.5, "full": 3.25}


@given(st.text(max_size=300))
def test_parsers_survive_any_text(text: str) -> None:
    total = memory.kib_line(f"MemTotal:{text}", "MemTotal")
    assert total is None or total >= 0
    used = swap.parse_swapusage(f"total = {text}")[1]
    assert used is None or used >= 0
    assert all(0 <= value <= 100 for value in pressure.parse(text).values())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "Max locked memory         8388608              8388608              bytes     \n",
            8_388_608,
        ),
        (
            "Max locked memory         unlimited            unlimited            bytes     \n",
            "unlimited",
        ),
        ("Max locked memory", None),
        ("Max locked memory  viel", None),
        ("", None),
    ],
)
def test_reads_what_may_be_locked(text: str, value: object) -> None:
    fact = memory.lock_limit(text)
    assert fact.reading.value == value
    assert value is not None or fact.reading.reason


@pytest.mark.parametrize(("text", "limit"), [("max\n", None), ("0\n", 0), ("1073741824\n", GIB)])
def test_reads_how_much_swap_a_container_may_use(text: str, limit: int | None) -> None:
    files = {
        "/proc/self/cgroup": "0::/docker/x\n",
        "/sys/fs/cgroup/docker/x/memory.swap.max": text,
        "/sys/fs/cgroup/docker/memory.swap.max": "max\n",
    }
    machine = Machine(facts=swap.read(FakeHost(files=files)))
    assert machine.number("swap.limit") == limit
