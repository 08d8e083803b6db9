"""AMD cards by sysfs: discrete, integrated with two pools, asleep, and none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import fact_words, facts
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB
from app.probes import amd_linux, amd_smi, drm, intel_linux, kfd, nvidia, pcie
from tests.hosts import FakeHost, answered, sample
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


def test_names_a_board_as_libdrm_does() -> None:
    text = sample("amdgpu.ids.txt")
    own = {f"{CARD}/device": "0x73bf\n", "/usr/share/libdrm/amdgpu.ids": text}
    nameless = {k: v for k, v in DISCRETE.items() if not k.endswith("product_name")}
    for revision, name in (("0xc1", "AMD Radeon RX 6800 XT"), ("0xc3", "AMD Radeon RX 6800")):
        files = nameless | own | {f"{CARD}/revision": f"{revision}\n"}
        assert _machine(FakeHost(files=files)).text("gpu.0.name") == name
    unknown = nameless | own | {f"{CARD}/revision": "0xee\n"}
    assert (_machine(FakeHost(files=unknown)).text("gpu.0.name") or "").startswith("AMD GPU")


@given(st.text(max_size=60), st.text(max_size=6), st.text(max_size=6))
def test_any_list_of_names_can_be_read(text: str, device: str, revision: str) -> None:
    assert len(drm.amd_name(text, device, revision)) <= 200


def test_says_which_device_files_are_shut() -> None:
    files = DISCRETE | {f"{CARD}/drm/renderD128/dev": "226:128\n"}
    shut = FakeHost(files=files, usable={"/dev/kfd": False, "/dev/dri/renderD128": True})
    fact = _machine(shut).fact("gpu.0.access")
    assert fact and fact.reading.state is State.DENIED
    assert fact.reading.reason == "this user may not use /dev/kfd"
    assert "usermod" in fact_words.how_to_get(fact)
    # a file that is not there, or was not asked for, says nothing
    assert _machine(FakeHost(files=files)).fact("gpu.0.access") is None


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


PCI = "/sys/devices/pci0000:00/0000:00:01.1"
SLOT = f"{PCI}/0000:01:00.0/0000:02:00.0/0000:03:00.0"


def _with_bridges(host_files: dict[str, str]) -> FakeHost:
    bridges = {PCI: (4, "16.0 GT/s PCIe"), f"{PCI}/0000:01:00.0": (16, "16.0 GT/s PCIe")}
    files = dict(host_files)
    for folder, (width, speed) in bridges.items():
        files |= {f"{folder}/current_link_width": f"{width}\n", f"{folder}/max_link_width": "16\n"}
        files |= {f"{folder}/current_link_speed": f"{speed}\n"}
    for name in ("current_link_width", "max_link_width"):
        files[f"{SLOT}/{name}"] = "16\n"
    files[f"{SLOT}/current_link_speed"] = "2.5 GT/s PCIe\n"
    return FakeHost(files=files, links={CARD: SLOT})


def test_the_link_is_the_slowest_part_of_the_way() -> None:
    # the card itself reports its own switch: x16, while the slot has four lanes
    machine = _machine(_with_bridges(DISCRETE))
    assert machine.number("gpu.0.pcie_width") == 4
    assert machine.number("gpu.0.pcie_width_max") == 16
    assert machine.number("gpu.0.pcie_generation") == 1


def test_reads_clocks_heat_and_power() -> None:
    hwmon = f"{CARD}/hwmon/hwmon3"
    files = {
        f"{CARD}/pp_dpm_mclk": "0: 96Mhz *\n1: 456Mhz \n2: 1249Mhz \n",
        f"{CARD}/pp_dpm_sclk": "0: 500Mhz\n1: 2371Mhz *\n",
        f"{CARD}/gpu_busy_percent": "7\n",
        f"{hwmon}/temp1_input": "41000\n",
        f"{hwmon}/temp2_input": "47000\n",
        f"{hwmon}/temp3_input": "255000\n",
        f"{hwmon}/power1_average": "31000000\n",
        f"{hwmon}/power1_cap": "250000000\n",
    }
    machine = _machine(FakeHost(files=DISCRETE | files))
    assert machine.number("gpu.0.memory_clock") == 96
    assert machine.number("gpu.0.memory_clock_max") == 1249
    assert machine.number("gpu.0.clock") == 2371
    values = {f.path: f.reading.value for f in machine.facts}
    assert values["gpu.0.temperature"] == 41.0
    assert values["gpu.0.power_limit"] == 250.0
    assert "gpu.0.temperature_memory" not in values  # 255 degrees: a sensor that sleeps


def test_small_window_of_the_cpu_is_said() -> None:
    small = {f"{CARD}/mem_info_vis_vram_total": "268435456\n"}
    assert _machine(FakeHost(files=DISCRETE | small)).flag("gpu.0.resizable_bar") is False
    whole = {f"{CARD}/mem_info_vis_vram_total": "25753026560\n"}
    assert _machine(FakeHost(files=DISCRETE | whole)).flag("gpu.0.resizable_bar") is True


def _strix(**more: str) -> FakeHost:
    values = dict(row.split(":") for row in sample("amdgpu-strix-halo-sysfs.txt").splitlines())
    files = {f"{CARD}/{name}": f"{value}\n" for name, value in values.items()}
    node = f"{kfd.ROOT}/1"
    files |= {
        f"{CARD}/vendor": "0x1002\n",
        "/proc/meminfo": f"MemTotal: {125 << 20} kB\n",
        f"{kfd.ROOT}/0/properties": "simd_count 0\ngfx_target_version 0\n",
        f"{node}/properties": "simd_count 80\ngfx_target_version 110501\ndrm_render_minor 128\n",
        f"{node}/mem_banks/0/properties": "heap_type 1\nwidth 256\nmem_clk_max 1000\n",
        f"{CARD}/drm/renderD128/dev": "226:128\n",
    }
    return FakeHost(files=files | more)


def test_strix_halo_can_use_no_more_than_the_machine_has() -> None:
    machine = _machine(_strix())
    assert machine.text("gpu.0.gfx") == "gfx1151"
    assert machine.flag("gpu.0.is_unified") is True
    # 0.5 + 128 GiB are told, the machine has 125 + 0.5, and the system needs 2
    assert machine.number("gpu.0.memory_usable") == 123 * GIB + GIB // 2


def test_the_ttm_limit_is_the_ceiling_of_what_is_borrowed() -> None:
    limit = {"/sys/module/ttm/parameters/pages_limit": f"{62 * GIB // 4096}\n"}
    machine = _machine(_strix(**limit))
    assert machine.number("gpu.0.gtt_limit") == 62 * GIB
    assert machine.number("gpu.0.memory_usable") == 62 * GIB + GIB // 2


@pytest.mark.parametrize(
    ("version", "name"),
    [("110000", "gfx1100"), ("110501", "gfx1151"), ("100300", "gfx1030"), ("90010", "gfx90a"),
     ("90500", "gfx950"), ("0", None), ("-1", None), ("x", None), (None, None)],
)  # fmt: skip
def test_decodes_the_gfx_name(version: str | None, name: str | None) -> None:
    assert kfd.gfx_name(version) == name


def test_reads_a_recorded_data_center_node() -> None:
    node = f"{kfd.ROOT}/1"
    files = {
        f"{CARD}/vendor": "0x1002\n",
        f"{node}/properties": sample("kfd-node-mi350x.txt"),
        f"{node}/mem_banks/0/properties": sample("kfd-mem-bank-mi350x.txt"),
    }
    machine = _machine(FakeHost(files=files))
    assert machine.text("gpu.0.gfx") == "gfx950"
    assert machine.number("gpu.0.memory_bus_width") == 8192
    assert machine.number("gpu.0.memory_base_clock") == 1900
    assert machine.number("gpu.0.memory_total") == 309_220_868_096


def test_rocm_smi_behind_warnings_fills_the_size_of_a_card_that_sleeps() -> None:
    cards = amd_smi.parse_meminfo(sample("rocm-smi-lowpower.txt"))
    assert cards[0].total_bytes == 25_753_026_560
    command = answered(
        "/usr/bin/rocm-smi", *amd_smi.MEMINFO, stdout=sample("rocm-smi-lowpower.txt")
    )
    host = FakeHost(
        files={f"{CARD}/vendor": "0x1002\n"},
        programs={"rocm-smi": "/usr/bin/rocm-smi"},
        commands=(command,),
    )
    assert _machine(host).number("gpu.0.memory_total") == 25_753_026_560


def test_amd_smi_gives_the_name_and_the_bandwidth() -> None:
    text = json.dumps(
        [
            {
                "gpu": 0,
                "asic": {"market_name": "AMD Radeon RX 7900 XTX"},
                "bus": {"bdf": "0000:03:00.0"},
                "vram": {
                    "type": "GDDR6",
                    "size": {"value": 24560, "unit": "MB"},
                    "bit_width": 384,
                    "max_bandwidth": {"value": 960, "unit": "GB/s"},
                },
            }
        ]
    )
    for printed in (text, f'{{"gpu_data": {text}}}', f"WARNING: x\n{text}"):
        host = FakeHost(
            files=DISCRETE,
            links={CARD: SLOT},
            programs={"amd-smi": "/usr/bin/amd-smi"},
            commands=(answered("/usr/bin/amd-smi", *amd_smi.STATIC, stdout=printed),),
        )
        machine = _machine(host)
        assert machine.text("gpu.0.name") == "AMD Radeon RX 7900 XTX"
        assert machine.number("gpu.0.bandwidth") == 960 * 10**9
        assert machine.number("gpu.0.memory_bus_width") == 384


@given(st.text(max_size=200))
def test_reads_any_output_of_the_tools(text: str) -> None:
    for printed in (text, "{" + text, "[" + text, f"\n[{text}"):
        for card in amd_smi.parse_static(printed) + amd_smi.parse_meminfo(printed):
            assert card.total_bytes is None or card.total_bytes >= 0


def test_intel_card_with_a_small_bar_and_its_clocks() -> None:
    real = "/sys/devices/pci0000:00/0000:00:06.0/0000:03:00.0"
    card = "/sys/class/drm/card0/device"
    zero = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    files = {
        f"{card}/vendor": "0x8086\n",
        f"{card}/resource": "0x00000000a0000000 0x00000000a0ffffff 0x0000000000140204\n"
        + zero
        + "0x0000004000000000 0x000000400fffffff 0x000000000014220c\n",
        f"{card}/tile0/gt0/freq0/act_freq": "0\n",
        f"{card}/tile0/gt0/freq0/max_freq": "2400\n",
        f"{real}/current_link_width": "4\n",
        f"{real}/max_link_width": "8\n",
    }
    machine = Machine(facts=intel_linux.read(FakeHost(files=files, links={card: real})))
    assert machine.flag("gpu.0.resizable_bar") is False
    assert machine.number("gpu.0.clock") is None  # it sleeps
    assert machine.number("gpu.0.clock_max") == 2400
    assert machine.number("gpu.0.pcie_width") == 4
    assert machine.flag("gpu.0.is_unified") is None


def test_intel_gpu_of_the_processor_shares_its_memory() -> None:
    card = "/sys/class/drm/card0/device"
    files = {
        f"{card}/vendor": "0x8086\n",
        "/sys/class/drm/card0/gt/gt0/rps_act_freq_mhz": "350\n",
        "/sys/class/drm/card0/gt/gt0/rps_max_freq_mhz": "1300\n",
    }
    real = "/sys/devices/pci0000:00/0000:00:02.0"
    machine = Machine(facts=intel_linux.read(FakeHost(files=files, links={card: real})))
    assert machine.flag("gpu.0.is_unified") is True
    assert machine.number("gpu.0.clock") == 350


@pytest.mark.parametrize("text", ["", "x", "0x1\n", "0x0 0xz 1\n", "0x2 0x1 0\n"])
def test_odd_resource_files_tell_no_bar(text: str) -> None:
    assert pcie.bar_bytes(text) is None
