"""Macs: names of core levels as Apple gives them, instruction sets, and the GPU's memory."""

from app.core import facts
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB, MIB
from app.probes import apple
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


def test_the_gpu_shares_the_memory_and_a_limit_shows() -> None:
    text = "machdep.cpu.brand_string: Apple M3\nhw.memsize: 25769803776\n"
    machine = _machine(f"{text}iogpu.wired_limit_mb: 20000\nsysctl.proc_translated: 1\n")
    assert machine.number("gpu.0.memory_total") == 24 * GIB
    assert machine.number("gpu.0.memory_limit") == 20_000 * MIB
    assert machine.flag("os.is_translated") is True
    assert _machine(f"{text}iogpu.wired_limit_mb: 0\n").fact("gpu.0.memory_limit") is None


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
