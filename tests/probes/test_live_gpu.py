"""Live readings of GPUs and of kinds of cores: what is not told is None, and costs nothing."""

from types import SimpleNamespace
from typing import Any

import pytest

from app.core.live import GpuReading
from app.probes import live_cpu, nvml
from app.probes.live_amd import AmdMeter
from app.probes.live_nvidia import NvidiaMeter
from tests.hosts import FakeHost
from tests.probes.test_amd_linux import CARD, DISCRETE
from tests.probes.test_nvml import _api, _raises

GIB = 1 << 30


def _nvidia(**changes: Any) -> NvidiaMeter:
    answers: dict[str, Any] = {
        "nvmlDeviceGetUtilizationRates": lambda _h: SimpleNamespace(gpu=97, memory=40),
        "nvmlDeviceGetMemoryInfo": lambda _h: SimpleNamespace(total=24 * GIB, free=4 * GIB),
        "nvmlDeviceGetPowerUsage": lambda _h: 312_000,
        "nvmlDeviceGetEnforcedPowerLimit": lambda _h: 450_000,
        "nvmlDeviceGetTemperature": lambda *_: 71,
        "nvmlDeviceGetClockInfo": lambda _h, kind: 2520 if kind == 1 else 10501,
        "nvmlDeviceGetCurrentClocksEventReasons": lambda _h: 0x4,
        "nvmlDeviceGetPcieThroughput": lambda _h, _d: 1000,
        "NVML_PCIE_UTIL_TX_BYTES": 0,
        "NVML_PCIE_UTIL_RX_BYTES": 1,
        "NVML_TEMPERATURE_THRESHOLD_GPU_MAX": 3,
        "NVML_TEMPERATURE_THRESHOLD_SLOWDOWN": 1,
        "nvmlDeviceGetTemperatureThreshold": lambda _h, kind: 83 if kind == 3 else 98,
        "nvmlDeviceGetPowerManagementDefaultLimit": lambda _h: 450_000,
    }
    return NvidiaMeter(_api(**(answers | changes)))


def test_reads_what_an_nvidia_card_does() -> None:
    (gpu,) = _nvidia(nvmlDeviceGetCurrPcieLinkWidth=lambda _h: 8).read()
    assert gpu == GpuReading(
        name="NVIDIA H200", busy=0.97, memory_used_bytes=20 * GIB, memory_total_bytes=24 * GIB,
        clock_mhz=2520, memory_clock_mhz=10501, temperature=71.0, power_w=312.0,
        power_limit_w=450.0, clock_reasons=4, link_bytes_s=2_048_000.0, memory_busy=0.4,
        temperature_limit=83.0, power_default_w=450.0, link_width=8, link_width_max=7,
        link_generation=7, link_generation_max=7, source="NVML",
    )  # fmt: skip


def test_a_figure_that_a_card_refuses_is_none() -> None:
    (gpu,) = _nvidia(
        nvmlDeviceGetPowerUsage=_raises("NotSupported"),
        nvmlDeviceGetMemoryInfo=_raises("NotSupported"),
        nvmlDeviceGetPcieThroughput=_raises("NotSupported"),
        nvmlDeviceGetTemperatureThreshold=_raises("NotSupported"),
    ).read()
    assert gpu.temperature_limit is None
    assert (gpu.power_w, gpu.memory_used_bytes, gpu.link_bytes_s) == (None, None, None)
    assert gpu.busy == 0.97


def test_an_older_driver_is_asked_for_clock_reasons_by_the_older_name() -> None:
    (gpu,) = _nvidia(
        nvmlDeviceGetCurrentClocksEventReasons=_raises("FunctionNotFound"),
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda _h: 0x20,
    ).read()
    assert gpu.clock_reasons == 0x20


def test_memory_of_processes_that_a_driver_hides_is_not_zero() -> None:
    def compute(_handle: object) -> list[SimpleNamespace]:
        shown, hidden = SimpleNamespace(pid=7), SimpleNamespace(pid=8, usedGpuMemory=None)
        shown.usedGpuMemory = 5 * GIB
        return [shown, hidden]

    meter = _nvidia(
        nvmlDeviceGetComputeRunningProcesses=compute,
        nvmlDeviceGetGraphicsRunningProcesses=_raises("NotSupported"),
    )
    assert meter.process_bytes() == {}  # not open yet
    meter.read()
    assert meter.process_bytes() == {7: 5 * GIB}


def test_closing_lets_go_of_the_library_and_reading_opens_it_again() -> None:
    calls: list[str] = []
    meter = _nvidia(
        nvmlInit=lambda: calls.append("init"), nvmlShutdown=lambda: calls.append("shutdown")
    )
    meter.read()
    assert meter.source() == "NVML"
    meter.close()
    meter.close()
    assert meter.source() == ""
    assert len(meter.read()) == 1
    assert calls == ["init", "shutdown", "init"]


def test_a_library_that_does_not_start_is_asked_once() -> None:
    calls = []

    def init() -> None:
        calls.append(1)
        _raises("LibraryNotFound")()

    meter = NvidiaMeter(_api(nvmlInit=init))
    assert meter.read() == () and meter.read() == ()
    assert calls == [1]


def test_in_wsl_the_librarys_own_place_is_tried_too(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def preload(path: str) -> bool:
        tried.append(path)
        return True

    def init() -> None:
        if not tried:
            _raises("LibraryNotFound")()

    monkeypatch.setattr(nvml, "preload", preload)
    assert len(_nvidia(nvmlInit=init).read()) == 1
    assert tried == [nvml.WSL_LIBRARY]


def test_the_link_of_many_cards_is_not_asked_for() -> None:
    asked: list[object] = []
    cards = _nvidia(
        nvmlDeviceGetCount=lambda: 3, nvmlDeviceGetPcieThroughput=lambda *a: asked.append(a)
    ).read()
    assert [gpu.link_bytes_s for gpu in cards] == [None] * 3
    assert asked == []


def test_reads_what_an_amd_card_does() -> None:
    files = {
        **DISCRETE,
        f"{CARD}/gpu_busy_percent": "50\n",
        f"{CARD}/hwmon/hwmon0/temp1_input": "60000\n",
        f"{CARD}/hwmon/hwmon0/power1_average": "200000000\n",
        f"{CARD}/hwmon/hwmon0/temp1_crit": "100000\n",
        f"{CARD}/mem_busy_percent": "25\n",
    }
    (gpu,) = AmdMeter(FakeHost(files=files)).read()
    assert (gpu.busy, gpu.temperature, gpu.power_w) == (0.5, 60.0, 200.0)
    assert gpu.memory_used_bytes == 1_103_101_952
    assert gpu.power_limit_w is None
    assert (gpu.temperature_limit, gpu.memory_busy) == (100.0, 0.25)
    assert AmdMeter(FakeHost(platform="darwin")).read() == ()


def test_shares_of_kinds_of_cores() -> None:
    kinds = (("Performance", (0, 1)), ("Efficiency", (2, 9)))
    before = [(10.0, 5.0)] * 3
    now = [(11.0, 5.0), (11.0, 6.0), (11.0, 6.0)]
    found = dict(live_cpu.shares(kinds, before, now))
    assert found == pytest.approx({"Performance": 0.5, "Efficiency": 0.0})


def test_cores_that_are_all_alike_have_no_kinds() -> None:
    assert live_cpu.ClassMeter(FakeHost()).read() == ()
    only = {"/sys/devices/cpu_core/cpus": "0-7\n"}
    assert live_cpu.ClassMeter(FakeHost(files=only)).read() == ()


def test_a_hybrid_cpu_has_kinds_from_the_second_reading_on() -> None:
    files = {"/sys/devices/cpu_core/cpus": "0\n", "/sys/devices/cpu_atom/cpus": "1\n"}
    meter = live_cpu.ClassMeter(FakeHost(files=files))
    assert meter.read() == ()
    assert {name for name, _ in meter.read()} <= {"Performance", "Efficiency"}
