"""Bandwidths and the ratio that follows: its source, its range, and when there is none."""

from dataclasses import replace

import pytest

from app.core import bandwidth, facts
from app.core.bandwidth import HostRate
from app.core.doubts import doubts
from app.core.machine import Machine
from app.core.reading import Kind
from app.work import device_rows
from tests.machines import linux, nvidia, software_only, strix_halo, two_cards

RATE = HostRate(
    value=40e9, low=38e9, high=41e9, n=5, threads=16, buffer_bytes=1 << 30,
    time="2026-11-30T12:00:00Z", processor="AMD Ryzen 9 7950X 16-Core Processor",
)  # fmt: skip
VULKAN = "  Vulkan0: AMD Radeon RX 7900 XTX (RADV NAVI31) (24560 MiB, 24000 MiB free)\n"


def _with_modules(machine: Machine, rate: int) -> Machine:
    fact = facts.known("memory.bandwidth", rate, source="modules", unit="bytes/s")
    return replace(machine, facts=(*machine.facts, fact))


def test_a_card_of_nvidia_is_computed_and_another_is_looked_up() -> None:
    machine = two_cards()
    rates = [bandwidth.device_rate(machine, device) for device in machine.devices]
    assert all(r and r.reading.source.startswith("NVML") for r in rates)
    machine = linux(VULKAN)
    rate = bandwidth.device_rate(machine, machine.devices[0])
    assert rate and rate.reading.value == 960 * 10**9
    assert "table of devices" in rate.reading.source and "384 bit" in rate.reading.source


@pytest.mark.parametrize(
    ("clock", "word"), [(10501, ""), (9800, ""), (8500, "less"), (12000, "more")]
)  # 4090: 384 bits x 2 x MHz / 8, beside 1008 GB/s of the table
def test_a_computed_bandwidth_is_checked_against_the_table(clock: int, word: str) -> None:
    card = (
        facts.known("gpu.0.vendor", "NVIDIA", source="NVML"),
        facts.known("gpu.0.name", "NVIDIA GeForce RTX 4090", source="NVML"),
        facts.known("gpu.0.bandwidth", 2 * clock * 10**6 * 384 // 8, source="NVML", unit="bytes/s"),
    )
    machine = bandwidth.with_devices(Machine(facts=card), device_rows.rows())
    assert machine.number("gpu.0.bandwidth_table") == 1008 * 10**9
    doubt = doubts(machine).get("gpu.0.bandwidth", "")
    assert (word in doubt and "of the table" in doubt) if word else doubt == ""
    # what the card says of itself stays the figure that is used
    assert machine.number("gpu.0.bandwidth") == 2 * clock * 10**6 * 384 // 8


def test_a_card_that_is_in_no_table_is_not_doubted() -> None:
    card = (
        facts.known("gpu.0.name", "NVIDIA GeForce RTX 9999", source="NVML"),
        facts.known("gpu.0.bandwidth", 7, source="NVML", unit="bytes/s"),
    )
    machine = bandwidth.with_devices(Machine(facts=card), device_rows.rows())
    assert machine.fact("gpu.0.bandwidth_table") is None
    assert doubts(machine) == {}


def test_the_software_device_has_no_bandwidth() -> None:
    machine = software_only()
    assert bandwidth.device_rate(machine, machine.devices[0]) is None
    assert bandwidth.table_r(machine, machine.devices) is None


def test_the_ratio_of_theory_is_that_of_the_table() -> None:
    card = "  CUDA0: NVIDIA GeForce RTX 4090 (24081 MiB, 22908 MiB free)\n"
    machine = linux(card, nvidia(("NVIDIA GeForce RTX 4090", 24564, 22908)))
    r = bandwidth.table_r(_with_modules(machine, 76_800_000_000), machine.devices)
    assert r is not None and r.kind is Kind.TABLE
    # 1.08 x 1008.1 / 76.8 (slowdown.md section 5), 0.75 to 1.35 around it
    assert r.value == pytest.approx(14.18, abs=0.01)
    assert (r.low, r.high) == pytest.approx((r.value * 0.75, r.value * 1.35))
    assert "CUDA0" in r.source and "modules" in r.source


def test_a_measured_host_comes_first_and_widens_the_range_by_its_own() -> None:
    card = "  CUDA0: NVIDIA GeForce RTX 4090 (24081 MiB, 22908 MiB free)\n"
    machine = linux(card, nvidia(("NVIDIA GeForce RTX 4090", 24564, 22908)))
    machine = bandwidth.with_host(_with_modules(machine, 76_800_000_000), RATE)
    r = bandwidth.table_r(machine, machine.devices)
    assert r is not None
    # (0.70 x 1008.1) / (0.80 x 40)
    assert r.value == pytest.approx(0.70 * 1008.096 / (0.80 * 40), rel=0.005)
    assert r.low == pytest.approx(r.value * 0.75 * 40 / 41)
    assert r.high == pytest.approx(r.value * 1.35 * 40 / 38)
    assert "measured 2026-11-30" in r.source


def test_a_busy_or_small_measurement_says_so() -> None:
    machine = bandwidth.with_host(
        linux(), replace(RATE, busy="the machine was busy", is_cache=True)
    )
    fact = machine.fact(bandwidth.MEASURED)
    assert fact and "upper bound" in fact.reading.source and "cache" in fact.reading.source


def test_a_rate_of_another_processor_is_not_this_computers() -> None:
    machine = bandwidth.with_host(linux(), replace(RATE, processor="Other"))
    assert machine.fact(bandwidth.MEASURED) is None


def test_shared_memory_has_no_ratio_of_this_kind() -> None:
    machine = bandwidth.with_host(strix_halo(), RATE)
    assert bandwidth.table_r(machine, machine.devices) is None


def test_without_a_host_rate_there_is_no_ratio() -> None:
    machine = linux(VULKAN)
    assert bandwidth.table_r(machine, machine.devices) is None
    assert bandwidth.table_r(None, machine.devices) is None
    assert bandwidth.table_r(machine, ()) is None
