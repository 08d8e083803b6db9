"""Live readings of GPUs and of kinds of cores: what is not told is None, and costs nothing."""

from types import SimpleNamespace
from typing import Any

import pytest

from app.probes import live_cpu
from app.probes.live_gpu import AmdMeter, GpuReading, NvidiaMeter
from tests.hosts import FakeHost
from tests.probes.test_amd_linux import CARD, DISCRETE
from tests.probes.test_nvml import _api, _raises

GIB = 1 << 30


def _nvidia(**changes: Any) -> tuple[GpuReading, ...]:
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
    }
    return NvidiaMeter(_api(**(answers | changes))).read()


def test_reads_what_an_nvidia_card_does() -> None:
    (gpu,) = _nvidia()
    assert gpu == GpuReading(
        "NVIDIA H200", 0.97, 20 * GIB, 24 * GIB, 2520, 10501, 71.0, 312.0, 450.0, 4, 2_048_000.0
    )


def test_a_figure_that_a_card_refuses_is_none() -> None:
    (gpu,) = _nvidia(
        nvmlDeviceGetPowerUsage=_raises("NotSupported"),
        nvmlDeviceGetMemoryInfo=_raises("NotSupported"),
        nvmlDeviceGetPcieThroughput=_raises("NotSupported"),
    )
    assert (gpu.power_w, gpu.memory_used_bytes, gpu.link_bytes_s) == (None, None, None)
    assert gpu.busy == 0.97


def test_a_library_that_does_not_start_is_asked_once() -> None:
    calls = []

    def init() -> None:
        calls.append(1)
        _raises("LibraryNotFound")()

    meter = NvidiaMeter(_api(nvmlInit=init))
    assert meter.read() == () and meter.read() == ()
    assert calls == [1]


def test_reads_what_an_amd_card_does() -> None:
    files = {
        **DISCRETE,
        f"{CARD}/gpu_busy_percent": "50\n",
        f"{CARD}/hwmon/hwmon0/temp1_input": "60000\n",
        f"{CARD}/hwmon/hwmon0/power1_average": "200000000\n",
    }
    (gpu,) = AmdMeter(FakeHost(files=files)).read()
    assert (gpu.busy, gpu.temperature, gpu.power_w) == (0.5, 60.0, 200.0)
    assert gpu.memory_used_bytes == 1_103_101_952
    assert gpu.power_limit_w is None
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
