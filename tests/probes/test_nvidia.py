"""NVIDIA cards: library, fallback program, unified parts, and each reason for none."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import clock_reasons, facts
from app.core.host import NvmlAnswer, NvmlValue
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB, MIB
from app.probes import nvidia, nvidia_smi, nvidia_smi_q
from tests.hosts import FakeHost, answered, sample

CARD_4090 = (
    NvmlValue("name", "NVIDIA GeForce RTX 4090"),
    NvmlValue("memory_v2.total", 25_757_220_864),
    NvmlValue("memory_v2.free", 24_000_000_000),
    NvmlValue("clock.memory_max", 10501),
    NvmlValue("bus_width", 384),
    NvmlValue("power_limit", 450_000),
    NvmlValue("compute_capability", "8.9"),
    NvmlValue("performance_state", None, "NotSupported"),
    NvmlValue("temperature", None, "NoPermission"),
)
DRIVER = (NvmlValue("driver", "580.95.05"), NvmlValue("cuda", 13000))
ONE_CARD = NvmlAnswer(State.KNOWN, driver=DRIVER, cards=(CARD_4090,))
MEMINFO = "MemTotal: 125829120 kB\nMemAvailable: 104857600 kB\n"


def _machine(host: FakeHost) -> Machine:
    return Machine(facts=facts.join([nvidia.read(host)]))


def _state(machine: Machine, path: str) -> State:
    fact = machine.fact(path)
    assert fact is not None, path
    return fact.reading.state


def _smi(text: str, *, hangs: bool = False, **more: Any) -> FakeHost:
    program = "/usr/bin/nvidia-smi"
    commands = tuple(
        answered(*nvidia_smi.argv(program, fields), stdout=text) for fields in nvidia_smi.GROUPS
    )
    return FakeHost(programs={"nvidia-smi": program}, commands=commands, hangs=hangs, **more)


def test_reads_a_card_with_memory_driver_and_theoretical_bandwidth() -> None:
    machine = _machine(FakeHost(nvml=ONE_CARD))
    assert machine.number("gpu.count") == 1
    assert machine.text("gpu.0.name") == "NVIDIA GeForce RTX 4090"
    assert machine.number("gpu.0.memory_total") == 25_757_220_864
    assert machine.number("gpu.0.memory_free") == 24_000_000_000
    assert machine.text("gpu.0.driver") == "580.95.05"
    assert machine.text("gpu.0.cuda") == "13.0"
    assert machine.number("gpu.0.bandwidth") == 1_008_096_000_000
    limit = machine.fact("gpu.0.power_limit")
    assert limit and (limit.reading.value, limit.reading.unit) == (450.0, "W")


def test_a_figure_the_card_refuses_is_not_zero() -> None:
    machine = _machine(FakeHost(nvml=ONE_CARD))
    assert _state(machine, "gpu.0.temperature") is State.DENIED
    assert machine.number("gpu.0.temperature") is None


def test_takes_version_1_of_memory_when_the_driver_is_old() -> None:
    card = (
        NvmlValue("name", b"old".decode()),
        NvmlValue("memory_v2.total", None, "FunctionNotFound"),
        NvmlValue("memory_v1.total", 8 * GIB),
        NvmlValue("memory_v1.free", 7 * GIB),
    )
    machine = _machine(FakeHost(nvml=replace(ONE_CARD, cards=(card,))))
    assert machine.number("gpu.0.memory_total") == 8 * GIB
    assert machine.number("gpu.0.memory_free") == 7 * GIB
    assert machine.flag("gpu.0.is_unified") is None


def _unified_card(error: str) -> tuple[NvmlValue, ...]:
    return (
        NvmlValue("name", "NVIDIA GB10"),
        NvmlValue("memory_v2.total", None, error),
        NvmlValue("memory_v1.total", None, error),
    )


def test_a_part_without_memory_of_its_own_uses_the_systems() -> None:
    nvml = replace(ONE_CARD, cards=(_unified_card("NotSupported"),))
    machine = _machine(FakeHost(nvml=nvml, files={"/proc/meminfo": MEMINFO}))
    assert machine.flag("gpu.0.is_unified") is True
    assert machine.number("gpu.0.memory_total") == 120 * GIB
    assert machine.number("gpu.0.memory_free") == 100 * GIB


def test_a_part_without_memory_of_its_own_uses_huge_pages_when_there_are_some() -> None:
    pages = "HugePages_Total: 100\nHugePages_Free: 60\nHugepagesize: 2048 kB\n"
    nvml = replace(ONE_CARD, cards=(_unified_card("NotSupported"),))
    machine = _machine(FakeHost(nvml=nvml, files={"/proc/meminfo": MEMINFO + pages}))
    assert machine.number("gpu.0.memory_total") == 200 * MIB
    assert machine.number("gpu.0.memory_free") == 120 * MIB


def test_a_card_that_fails_is_not_called_unified() -> None:
    nvml = replace(ONE_CARD, cards=(_unified_card("Unknown"),))
    machine = _machine(FakeHost(nvml=nvml, files={"/proc/meminfo": MEMINFO}))
    assert machine.flag("gpu.0.is_unified") is None
    assert _state(machine, "gpu.0.memory_total") is State.ERROR


def test_a_lost_card_spoils_only_itself() -> None:
    lost = (NvmlValue("handle", None, "GpuIsLost"),)
    machine = _machine(FakeHost(nvml=replace(ONE_CARD, cards=(lost, CARD_4090))))
    assert machine.number("gpu.count") == 2
    name = machine.fact("gpu.0.name")
    assert name and "restart" in name.reading.reason
    assert machine.text("gpu.1.name") == "NVIDIA GeForce RTX 4090"


def test_no_card_is_a_normal_result_with_a_reason() -> None:
    machine = _machine(FakeHost())
    assert machine.number("gpu.count") is None
    assert _state(machine, "gpu.count") is State.ABSENT


def test_a_driver_that_needs_a_restart_is_an_error_and_says_so() -> None:
    reason = "the NVIDIA driver was updated: restart the computer"
    machine = _machine(FakeHost(nvml=NvmlAnswer(State.ERROR, reason)))
    fact = machine.fact("gpu.count")
    assert fact and fact.reading.state is State.ERROR and "restart" in fact.reading.reason


def test_names_a_card_that_is_built_in_without_a_driver() -> None:
    files = {"/sys/class/drm/card0/device/vendor": "0x10de\n"}
    fact = _machine(FakeHost(files=files)).fact("gpu.count")
    assert fact and "driver is not installed" in fact.reading.reason


def test_names_a_container_that_got_no_card() -> None:
    fact = _machine(FakeHost(env={"NVIDIA_VISIBLE_DEVICES": "all"})).fact("gpu.count")
    assert fact and "--gpus all" in fact.reading.reason


def test_asks_nvidia_smi_when_the_library_does_not_start() -> None:
    machine = _machine(_smi(sample("nvidia-smi-two-cards.csv")))
    assert machine.number("gpu.count") == 2
    assert machine.text("gpu.1.name") == "NVIDIA GeForce RTX 3060"
    assert machine.number("gpu.0.memory_total") == 24576 * MIB
    assert machine.number("gpu.0.memory_free") == 23221 * MIB
    assert machine.number("gpu.1.pcie_width") == 4
    fact = machine.fact("gpu.0.memory_free")
    assert fact and fact.reading.source == "nvidia-smi"


def test_takes_na_of_nvidia_smi_as_unified_and_not_as_zero() -> None:
    text = sample("nvidia-smi-gb10.csv")
    machine = _machine(_smi(text, files={"/proc/meminfo": MEMINFO}))
    assert machine.flag("gpu.0.is_unified") is True
    assert machine.number("gpu.0.memory_total") == 120 * GIB
    machine = _machine(_smi(text))
    assert _state(machine, "gpu.0.memory_total") is State.UNSUPPORTED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "index\n",
        'Field "memory.reserved" is not a valid field to query.\n',
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
        "index, name\n",
    ],
)
def test_finds_no_card_in_an_error_text(text: str) -> None:
    machine = _machine(_smi(text))
    assert machine.number("gpu.count") is None


def test_skips_rows_that_do_not_fit_their_header() -> None:
    text = "index, name, memory.total [MiB]\n0, RTX, 100\n1, cut off\n2, ERR!, [Unknown Error]\n"
    machine = _machine(_smi(text))
    assert machine.number("gpu.count") == 2
    assert _state(machine, "gpu.1.name") is State.ERROR
    assert _state(machine, "gpu.1.memory_total") is State.ERROR


def test_asks_nvidia_smi_once_when_it_hangs() -> None:
    host = _smi("", hangs=True)
    machine = _machine(host)
    assert host.elapsed_s == 2.0
    assert _state(machine, "gpu.count") is State.TIMEOUT


def _with(*values: NvmlValue) -> Machine:
    return _machine(FakeHost(nvml=replace(ONE_CARD, cards=((*CARD_4090, *values),))))


def test_says_in_words_what_holds_the_clock_down() -> None:
    assert _with(NvmlValue("clock_reasons", 0x1)).words("gpu.0.clock_reasons") == ("idle",)
    machine = _with(NvmlValue("clock_reasons", 0x44 | 0x8000))
    reasons = machine.words("gpu.0.clock_reasons")
    assert reasons == ("power limit", "heat (hardware)", "not known: 0x8000")
    assert _with(NvmlValue("clock_reasons", 0)).words("gpu.0.clock_reasons") == ()
    machine = _with(NvmlValue("clock_reasons", None, "NotSupported"))
    assert _state(machine, "gpu.0.clock_reasons") is State.UNSUPPORTED


def test_says_how_cards_are_joined_and_how_long_they_were_held_down() -> None:
    machine = _with(
        NvmlValue("topology.1", 30), NvmlValue("topology.2", 50), NvmlValue("topology.3", 77),
        NvmlValue("nvlinks", 4), NvmlValue("ecc", 1),
        NvmlValue("violation.power", 12_500_000_000), NvmlValue("violation.thermal", 0),
    )  # fmt: skip
    assert machine.words("gpu.0.neighbours") == (
        "card 1 of nvidia-smi: through the processor's PCIe bridge",
        "card 2 of nvidia-smi: from one processor to another",
    )
    assert machine.number("gpu.0.nvlinks") == 4
    assert machine.flag("gpu.0.ecc") is True
    power, heat = machine.fact("gpu.0.held_by_power"), machine.fact("gpu.0.held_by_heat")
    assert power and power.reading.value == 12.5
    assert heat and heat.reading.value == 0  # it was told, and it is none


def test_a_card_that_tells_no_links_has_a_reason_and_no_zero() -> None:
    queries = ("nvlinks", "violation.power", "violation.thermal", "ecc")
    machine = _with(*(NvmlValue(query, None, "NotSupported") for query in queries))
    for path in ("nvlinks", "held_by_power", "held_by_heat", "ecc"):
        assert _state(machine, f"gpu.0.{path}") is State.UNSUPPORTED
    absurd = _with(NvmlValue("violation.power", 1 << 63), NvmlValue("nvlinks", -1))
    assert absurd.fact("gpu.0.held_by_power") is None
    assert absurd.fact("gpu.0.nvlinks") is None


def test_heat_is_a_fault_only_while_the_card_works_and_stays() -> None:
    hot, idle = (0x40, 98), (0x41, 0)
    assert clock_reasons.faults((hot, hot)) == ()
    assert clock_reasons.faults((idle,) * 10) == ()
    assert clock_reasons.faults(((0x40, None),) * 10) == ()
    assert clock_reasons.faults((hot,) * 3 + (idle,) * 7) == ("heat (hardware)",)
    assert clock_reasons.faults((hot,) * 3 + (idle,) * 20) == ()  # long ago
    assert clock_reasons.faults(((0x4, 100),) * 10) == ()  # a power limit at full load is normal


def test_a_split_card_shows_its_parts() -> None:
    machine = _with(
        NvmlValue("mig", 1),
        NvmlValue("instance.0.total", 20 * GIB),
        NvmlValue("instance.1.total", 10 * GIB),
    )
    assert machine.flag("gpu.0.is_split") is True
    assert machine.words("gpu.0.instances") == ("20.00 GiB", "10.00 GiB")
    assert _with(NvmlValue("mig", None, "NotSupported")).flag("gpu.0.is_split") is None


def test_names_the_driver_model_and_the_way_of_addressing() -> None:
    machine = _with(NvmlValue("driver_model", 0), NvmlValue("addressing_mode", 2))
    assert machine.text("gpu.0.driver_model") == "WDDM"
    assert machine.text("gpu.0.addressing_mode") == "ATS"


def test_memory_of_programs_that_the_driver_hides_is_not_zero() -> None:
    machine = _with(NvmlValue("process_memory", None, "NotSupported"))
    assert _state(machine, "gpu.0.process_memory") is State.UNSUPPORTED


def test_a_program_that_hangs_is_named() -> None:
    fact = _machine(_smi("", hangs=True)).fact("nvidia.search")
    assert fact and fact.reading.state is State.TIMEOUT and "nvidia-smi" in fact.reading.source


def test_nvidia_smi_prints_decimals_and_a_mask() -> None:
    machine = _machine(_smi(sample("nvidia-smi-two-cards.csv")))
    assert machine.words("gpu.1.clock_reasons") == ("power limit",)
    text = "index, name, power.draw [W]\n0, A, 11.17 W\n"
    fact = _machine(_smi(text)).fact("gpu.0.power")
    assert fact and fact.reading.value == 11.17


PASTED = """
==============NVSMI LOG==============

Driver Version                            : 550.144.03
CUDA Version                              : 12.4

Attached GPUs                             : 1
GPU 00000000:01:00.0
    Product Name                          : NVIDIA GeForce RTX 3060
    GPU UUID                              : GPU-0
    Driver Model
        Current                           : N/A
    GPU Link Info
        PCIe Generation
            Max                           : 4
            Current                       : 1
        Link Width
            Max                           : 16x
            Current                       : 4x
    Clocks Event Reasons
        Idle                              : Active
        SW Power Cap                      : Not Active
    FB Memory Usage
        Total                             : 12288 MiB
        Free                              : 11900 MiB
    BAR1 Memory Usage
        Total                             : 256 MiB
    Utilization
        Gpu                               : 3 %
    Temperature
        GPU Current Temp                  : 41 C
    GPU Power Readings
        Power Draw                        : 14.50 W
        Current Power Limit               : 170.00 W
    Clocks
        SM                                : 210 MHz
        Memory                            : 405 MHz
    Max Clocks
        SM                                : 2130 MHz
        Memory                            : 7501 MHz
"""


def test_reads_what_a_person_pasted() -> None:
    machine = Machine(facts=nvidia_smi_q.parse(PASTED))
    assert machine.text("gpu.0.name") == "NVIDIA GeForce RTX 3060"
    assert machine.number("gpu.0.memory_total") == 12288 * MIB
    assert machine.number("gpu.0.pcie_width") == 4
    assert machine.number("gpu.0.memory_clock_max") == 7501
    assert machine.number("gpu.0.memory_clock") == 405
    assert machine.words("gpu.0.clock_reasons") == ("Idle",)
    assert machine.text("gpu.0.driver") == "550.144.03"
    assert "GPU-0" not in str(machine.facts)


@given(st.integers(0, len(PASTED)), st.text(max_size=30))
def test_reads_any_part_of_a_pasted_text(cut: int, more: str) -> None:
    for fact in nvidia_smi_q.parse(PASTED[:cut] + more + PASTED[cut:]):
        assert fact.reading.value is not None
