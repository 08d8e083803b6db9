"""vulkaninfo: devices, what ggml-vulkan counts of their memory, and any other text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import facts
from app.core.host import CommandResult
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB
from app.probes import intel_linux, vulkan
from app.probes.snapshot import Snapshot
from tests.hosts import FakeHost, answered, sample

PROGRAM = "/usr/bin/vulkaninfo"
LLVMPIPE = sample("vulkaninfo-llvmpipe.txt")
ARC = sample("vulkaninfo-arc-and-igpu.txt")


def _host(text: str, **more: Any) -> FakeHost:
    return FakeHost(
        programs={"vulkaninfo": PROGRAM}, commands=(answered(PROGRAM, stdout=text),), **more
    )


def _machine(host: FakeHost) -> Machine:
    return Machine(facts=vulkan.read(host))


def test_reads_a_recorded_software_device() -> None:
    (device,) = vulkan.parse(LLVMPIPE)
    assert (device.name, device.kind) == ("llvmpipe (LLVM 15.0.6, 256 bits)", "software")
    assert (device.memory_bytes, device.free_bytes) == (2 * GIB, None)
    assert device.driver == "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"
    assert (device.vendor, device.device) == (0x10005, 0)


def test_counts_the_heaps_that_llama_cpp_counts() -> None:
    machine = _machine(_host(ARC))
    assert machine.number("vulkan.devices") == 3
    assert machine.text("vulkan.0.kind") == "card"
    # device-local alone, and budget less usage
    assert machine.number("vulkan.0.memory_total") == 17_010_548_736
    assert machine.number("vulkan.0.memory_free") == 15_000_000_000
    assert machine.text("vulkan.1.kind") == "integrated"
    fact = machine.fact("vulkan.1.memory_free")
    assert fact and fact.reading.state is State.UNSUPPORTED
    assert "VK_EXT_memory_budget" in fact.reading.reason


def test_says_why_there_is_no_list() -> None:
    fact = _machine(FakeHost()).fact("vulkan.devices")
    assert fact and fact.reading.state is State.MISSING
    error = "ERROR: vkEnumeratePhysicalDevices failed with ERROR_INITIALIZATION_FAILED"
    failed = FakeHost(
        programs={"vulkaninfo": PROGRAM}, commands=(answered(PROGRAM, stderr=error, code=1),)
    )
    fact = _machine(failed).fact("vulkan.devices")
    assert fact and fact.reading.state is State.ABSENT and error in fact.reading.reason
    hung = FakeHost(programs={"vulkaninfo": PROGRAM}, hangs=True)
    fact = _machine(hung).fact("vulkan.devices")
    assert fact and fact.reading.state is State.TIMEOUT
    assert vulkan.read(FakeHost(platform="darwin")) == ()


def test_two_probes_that_ask_run_it_once() -> None:
    host = _host(ARC, files={"/sys/class/drm/card0/device/vendor": "0x8086\n"})
    snapshot = Snapshot(host)
    vulkan.read(snapshot)
    intel_linux.read(snapshot)
    assert host.asked.count((PROGRAM,)) == 1


def _arc(**files: str) -> Machine:
    card = "/sys/class/drm/card0"
    real = "/sys/devices/pci0000:00/0000:00:06.0/0000:03:00.0"
    own = {f"{card}/device/vendor": "0x8086\n", f"{card}/device/device": "0x56a0\n"}
    own |= {f"{card}/{path.replace('__', '/')}": text for path, text in files.items()}
    host = _host(ARC, files=own, links={f"{card}/device": real})
    return Machine(facts=facts.join([intel_linux.read(host)]))


def test_an_arc_gets_its_name_and_memory_from_vulkan() -> None:
    machine = _arc()
    assert machine.text("gpu.0.name") == "Intel(R) Arc(tm) A770 Graphics (DG2)"
    assert machine.number("gpu.0.memory_total") == 17_010_548_736
    assert machine.number("gpu.0.memory_free") == 15_000_000_000


def test_what_the_driver_says_of_a_cards_memory_comes_first() -> None:
    machine = _arc(device__tile0__physical_vram_size_bytes="17179869184\n")
    assert machine.number("gpu.0.memory_total") == 16 * GIB
    assert machine.number("gpu.0.memory_free") == 15_000_000_000
    machine = _arc(lmem_total_bytes="17179869184\n", lmem_avail_bytes="1000\n")
    assert machine.number("gpu.0.memory_free") == 1000


@pytest.mark.parametrize(
    "folder", ["device__tile0__gt0__freq0__throttle__reason_", "gt__gt0__throttle_reason_"]
)
def test_says_what_holds_an_intel_clock_down(folder: str) -> None:
    machine = _arc(
        **{f"{folder}pl1": "1\n", f"{folder}thermal": "0\n"},
        device__hwmon__hwmon2__temp2_input="71000\n",
        device__hwmon__hwmon2__power1_max="190000000\n",
    )
    assert machine.words("gpu.0.clock_reasons") == ("power limit (PL1)",)
    fact = machine.fact("gpu.0.power_limit")
    assert fact and fact.reading.value == 190.0
    fact = machine.fact("gpu.0.temperature")
    assert fact and fact.reading.value == 71.0
    assert _arc().words("gpu.0.clock_reasons") is None


@given(st.sampled_from([LLVMPIPE, ARC]), st.integers(0, 5000), st.text(max_size=80))
def test_reads_any_part_of_its_text(text: str, cut: int, more: str) -> None:
    for changed in (text[:cut], text[cut:], text[:cut] + more, text.replace("=", more, 3)):
        for device in vulkan.parse(changed):
            assert device.name is not None
            assert device.memory_bytes is None or device.memory_bytes >= 0
            assert device.free_bytes is None or device.free_bytes >= 0


def test_figures_without_end_are_no_figures() -> None:
    text = ARC.replace("17010548736", "9" * 400)
    (arc, *_rest) = vulkan.parse(text)
    assert arc.memory_bytes is None or arc.memory_bytes < 10**15
    assert vulkan.parse("GPU0:\n" * 1000) == ()
    result = CommandResult(("x",), State.KNOWN, 0, "", "")
    assert vulkan.parse(result.stdout) == ()
