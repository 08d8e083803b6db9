"""Macs: names of core levels as Apple gives them, instruction sets, and the GPU's memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import facts
from app.core.host import Basics, CommandResult
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB, MIB
from app.probes import apple, apple_gpu, apple_metal
from tests.hosts import FakeHost, answered, sample

SYSCTL = ("sysctl", *apple._TREES)
# three levels, from the public descriptions in hardware.md section 1; no recording exists
M6 = """machdep.cpu.brand_string: Apple M6
hw.perflevel0.physicalcpu: 2
hw.perflevel0.name: Super
hw.perflevel1.physicalcpu: 4
hw.perflevel1.name: Performance
hw.perflevel2.physicalcpu: 6
hw.perflevel2.name: Efficiency
"""


def _machine(text: str, *, hangs: bool = False) -> Machine:
    commands = (answered(*SYSCTL, stdout=text),)
    host = FakeHost(platform="darwin", commands=commands, hangs=hangs)
    return Machine(facts=facts.join([apple.read(host)]))


def test_reads_an_m4_max() -> None:
    machine = _machine(sample("sysctl-m4max.txt"))
    assert machine.text("cpu.model") == "Apple M4 Max"
    # the recording was cut before the name of the second level
    assert machine.words("cpu.core_classes") == ("Performance: 12", "Level 1: 4")
    assert machine.number("cpu.performance_cores") == 12
    assert machine.text("gpu.0.name") == "Apple M4 Max GPU"


def test_an_m5_max_has_no_efficiency_cores() -> None:
    machine = _machine(sample("sysctl-m5max.txt"))
    assert machine.words("cpu.core_classes") == ("Super: 6", "Performance: 12")
    assert machine.number("cpu.fast_cores") == 6
    assert machine.number("cpu.performance_cores") == 12
    fact = machine.fact("cpu.efficiency_cores")
    assert fact and fact.reading.state is State.ABSENT


def test_an_m6_has_three_kinds_of_cores() -> None:
    machine = _machine(M6)
    expected = ("Super: 2", "Performance: 4", "Efficiency: 6")
    assert machine.words("cpu.core_classes") == expected
    assert machine.number("cpu.fast_cores") == 2
    assert machine.number("cpu.efficiency_cores") == 6


def test_an_older_macos_names_no_levels() -> None:
    machine = _machine(sample("sysctl-m1max.txt"))
    assert machine.words("cpu.core_classes") == ("Level 0: 8", "Level 1: 2")
    assert machine.words("cpu.instruction_sets") == ("asimd", "asimddp")
    assert machine.number("cpu.physical") == 10
    # the recording lacks the chip's name, and is no Intel Mac for that
    assert machine.text("gpu.0.name") == "Apple GPU"
    assert machine.number("gpu.0.memory_total") == 64 * GIB


def test_the_gpu_shares_the_memory_and_a_limit_shows() -> None:
    text = "machdep.cpu.brand_string: Apple M3\nhw.memsize: 25769803776\n"
    machine = _machine(f"{text}iogpu.wired_limit_mb: 20000\nsysctl.proc_translated: 1\n")
    assert machine.number("gpu.0.memory_total") == 24 * GIB
    assert machine.number("gpu.0.memory_limit") == 20_000 * MIB
    assert machine.flag("os.is_translated") is True
    default = _machine(f"{text}iogpu.wired_limit_mb: 0\n")
    assert default.fact("gpu.0.memory_limit") is None
    assert default.number("gpu.0.memory_default") == 16 * GIB  # 2/3 of 24


def test_an_intel_mac_has_no_apple_gpu() -> None:
    machine = _machine("machdep.cpu.brand_string: Intel(R) Core(TM) i9\nhw.optional.avx2_0: 1\n")
    assert machine.number("gpu.count") is None
    assert machine.words("cpu.instruction_sets") == ("avx2",)


def test_says_timeout_when_sysctl_hangs() -> None:
    fact = _machine("", hangs=True).fact("cpu.model")
    assert fact and fact.reading.state is State.TIMEOUT


def test_says_error_when_sysctl_prints_nothing() -> None:
    fact = _machine("").fact("cpu.physical")
    assert fact and fact.reading.state is State.ERROR


def _with(*commands: CommandResult) -> Machine:
    text = answered(*SYSCTL, stdout="machdep.cpu.brand_string: Apple M4 Max\n")
    host = FakeHost(platform="darwin", commands=(text, *commands))
    return Machine(facts=facts.join([apple.read(host)]))


def test_counts_the_gpus_cores_by_either_program() -> None:
    ioreg = answered(*apple_gpu.IOREG, stdout='    "gpu-core-count" = 40\n')
    assert _with(ioreg).number("gpu.0.cores") == 40
    text = sample("system_profiler-displays-m4max.json")
    assert _with(answered(*apple_gpu.PROFILER, stdout=text)).number("gpu.0.cores") == 40
    fact = _with().fact("gpu.0.cores")
    assert fact and fact.reading.value is None and fact.reading.reason


def test_says_how_short_memory_is() -> None:
    assert _with(answered(*apple_gpu.PRESSURE, stdout="2\n")).text("pressure.level") == "warning"
    assert _with(answered(*apple_gpu.PRESSURE, stdout="9\n")).fact("pressure.level") is None


def test_says_what_metal_recommends_instead_of_an_estimate() -> None:
    text = (
        "machdep.cpu.brand_string: Apple M4 Max\nhw.memsize: 68719476736\niogpu.wired_limit_mb: 0\n"
    )
    told = Basics(metal_working_set_bytes=48 * GIB, metal_max_buffer_bytes=36 * GIB)
    commands = (answered(*SYSCTL, stdout=text),)
    machine = Machine(apple.read(FakeHost(platform="darwin", commands=commands, basics=told)))
    assert machine.number("gpu.0.working_set") == 48 * GIB
    assert machine.number("gpu.0.max_buffer") == 36 * GIB
    assert machine.number("gpu.0.memory_default") is None
    silent = Machine(apple.read(FakeHost(platform="darwin", commands=commands)))
    assert silent.number("gpu.0.working_set") is None
    assert silent.number("gpu.0.memory_default") == 48 * GIB


class FakeObjects:
    """Stands for Objective-C's runtime."""

    def __init__(self, device: object | None, values: dict[str, int]) -> None:
        self._device, self._values = device, values

    def device(self) -> object | None:
        """Return the device."""
        return self._device

    def process_info(self) -> object | None:
        """Return an object."""
        return 1

    def whole(self, thing: object, selector: str) -> int:
        """Answer, or fail for a selector that is not asked for."""
        return self._values[selector]


def test_asks_metal_and_the_process_info_by_their_own_names() -> None:
    values = {
        "recommendedMaxWorkingSetSize": 51_539_607_552, "maxBufferLength": 38_654_705_664,
        "thermalState": 2,
    }  # fmt: skip
    calls = apple_metal.read(FakeObjects(7, values))
    assert calls == apple_metal.AppleCalls(51_539_607_552, 38_654_705_664, 2)
    # no Metal (a virtual machine), and figures that cannot be
    assert apple_metal.read(FakeObjects(None, {"thermalState": 9})) == apple_metal.AppleCalls()
    odd = {"recommendedMaxWorkingSetSize": -1, "maxBufferLength": 1 << 62, "thermalState": 0}
    assert apple_metal.read(FakeObjects(7, odd)) == apple_metal.AppleCalls(thermal_state=0)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (
            "The system has 68719476736.\nSystem-wide memory free percentage: 71%\n",
            71,
        ),
        ("free percentage: 900%", None),
        ("", None),
        ("Speicher frei: 71 %", None),
    ],
)
def test_reads_the_share_that_macos_calls_free(text: str, share: int | None) -> None:
    assert apple_gpu.free_share(text) == share


def test_says_how_much_memory_is_compressed() -> None:
    machine = _with(answered("vm_stat", stdout=sample("vm_stat-16k.txt")))
    assert machine.number("memory.compressed") == 233_012 * 16384


def test_pages_of_vm_stat_are_16_kib_on_apple_silicon() -> None:
    counters = apple_gpu.vm_stat(sample("vm_stat-16k.txt"))
    assert counters["Swapins"] == 554_433 * 16384
    assert counters["Pages free"] == 14_520 * 16384
    assert apple_gpu.vm_stat("Pages free: 1.\n") == {}  # without its page size it says nothing


@pytest.mark.parametrize(("total", "limit"), [(16, 10.67), (36, 24), (64, 48), (128, 96)])
def test_macos_default_share_grows_above_36_gb(total: int, limit: float) -> None:
    assert apple_gpu.default_limit(total * GIB) == pytest.approx(limit * GIB, rel=0.001)


@given(st.text(max_size=120))
def test_reads_any_output(text: str) -> None:
    for cores in (apple_gpu.profiler_cores(text), apple_gpu.ioreg_cores(text)):
        assert cores is None or cores > 0
    for value in apple_gpu.vm_stat("(page size of 4096 bytes)\n" + text).values():
        assert value >= 0
