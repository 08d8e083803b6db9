"""AMD cards by sysfs: discrete, integrated with two pools, asleep, and none."""

from app.core import facts
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB
from app.probes import amd_linux, intel_linux, nvidia
from tests.hosts import FakeHost, sample
from tests.probes.test_nvidia import ONE_CARD

CARD = "/sys/class/drm/card1/device"
DISCRETE = {
    f"{CARD}/vendor": "0x1002\n",
    f"{CARD}/uevent": "DRIVER=amdgpu\nPCI_ID=1002:744C\n",
    f"{CARD}/mem_info_vram_total": "25753026560\n",
    f"{CARD}/mem_info_vram_used": "1103101952\n",
    f"{CARD}/mem_info_gtt_total": "33541242880\n",
    f"{CARD}/mem_info_gtt_used": "42123264\n",
    f"{CARD}/power_dpm_force_performance_level": "low\n",
    "/sys/class/drm/card1-HDMI-A-1/status": "connected\n",
}


def _machine(host: FakeHost) -> Machine:
    return Machine(facts=facts.join([amd_linux.read(host)]))


def test_reads_a_discrete_card() -> None:
    machine = _machine(FakeHost(files=DISCRETE))
    assert machine.number("gpu.count") == 1
    assert machine.text("gpu.0.name") == "AMD GPU 1002:744C"
    assert machine.number("gpu.0.memory_total") == 25_753_026_560
    assert machine.number("gpu.0.memory_free") == 25_753_026_560 - 1_103_101_952
    assert machine.text("gpu.0.performance_level") == "low"


def test_keeps_the_pools_of_an_integrated_gpu_apart() -> None:
    values = dict(row.split(":") for row in sample("amdgpu-strix-halo-sysfs.txt").splitlines())
    files = {f"{CARD}/{name}": f"{value}\n" for name, value in values.items()}
    machine = _machine(FakeHost(files={f"{CARD}/vendor": "0x1002\n", **files}))
    assert machine.number("gpu.0.memory_total") == GIB // 2
    assert machine.number("gpu.0.gtt_total") == 128 * GIB
    free = machine.fact("gpu.0.memory_free")
    assert free and free.reading.state is State.UNSUPPORTED and free.reading.value is None


def test_a_card_that_sleeps_has_a_name_and_reasons() -> None:
    machine = _machine(FakeHost(files={f"{CARD}/vendor": "0x1002\n"}))
    assert machine.number("gpu.count") == 1
    fact = machine.fact("gpu.0.memory_total")
    assert fact and fact.reading.state is State.UNSUPPORTED and "asleep" in fact.reading.reason


def test_does_not_believe_more_used_than_there_is() -> None:
    files = {**DISCRETE, f"{CARD}/mem_info_vram_used": "99999999999999\n"}
    fact = _machine(FakeHost(files=files)).fact("gpu.0.memory_free")
    assert fact and fact.reading.value is None


def test_no_card_is_a_normal_result() -> None:
    fact = _machine(FakeHost()).fact("gpu.count")
    assert fact and fact.reading.state is State.ABSENT
    intel = FakeHost(files={"/sys/class/drm/card0/device/vendor": "0x8086\n"})
    fact = _machine(intel).fact("gpu.count")
    assert fact and "no AMD card" in fact.reading.reason


def test_numbers_go_on_after_the_cards_of_another_maker() -> None:
    host = FakeHost(files=DISCRETE, nvml=ONE_CARD)
    machine = Machine(facts=facts.join([amd_linux.read(host), nvidia.read(host)]))
    assert machine.number("gpu.count") == 2
    assert machine.text("gpu.0.vendor") == "AMD"
    assert machine.text("gpu.1.name") == "NVIDIA GeForce RTX 4090"


def test_counts_an_intel_gpu_whose_memory_is_hidden() -> None:
    card = "/sys/class/drm/card0/device"
    files = {f"{card}/vendor": "0x8086\n", f"{card}/uevent": "DRIVER=xe\nPCI_ID=8086:E20B\n"}
    machine = Machine(facts=facts.join([intel_linux.read(FakeHost(files=files))]))
    assert machine.number("gpu.count") == 1
    assert machine.text("gpu.0.name") == "Intel GPU 8086:E20B"
    assert machine.text("gpu.0.driver") == "xe"
    fact = machine.fact("gpu.0.memory_total")
    assert fact and fact.reading.state is State.UNSUPPORTED
    none = Machine(facts=facts.join([intel_linux.read(FakeHost())])).fact("gpu.count")
    assert none and none.reading.state is State.ABSENT
