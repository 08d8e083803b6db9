"""Cards on Windows from the registry: 64-bit sizes, and what is no card."""

import json
import struct
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import facts
from app.core.host import Adapter, Basics, CounterValue, ListedGpu, ProcessInfo
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB
from app.probes import dxgi, pdh, windows_gpus
from app.probes.operating_system import registry_bytes
from tests.hosts import SAMPLES, FakeHost, sample


def _machine(*gpus: ListedGpu, **changes: str) -> Machine:
    host = FakeHost(platform=changes.get("platform", "win32"), basics=Basics(gpus=gpus))
    return Machine(facts=facts.join([windows_gpus.read(host)]))


def test_reads_the_64_bit_size_and_not_the_wrapped_one() -> None:
    sample = json.loads((SAMPLES / "win-registry-vram.json").read_text())
    key = next(value for name, value in sample.items() if name.startswith("HKLM"))
    size = registry_bytes(key["HardwareInformation.qwMemorySize"])
    machine = _machine(ListedGpu(key["DriverDesc"], size, "32.0.1"))
    assert machine.text("gpu.0.name") == "AMD Radeon RX 7900 XTX"
    assert machine.number("gpu.0.memory_total") == 25_753_026_560
    assert machine.text("gpu.0.driver") == "32.0.1"


@pytest.mark.parametrize(
    ("value", "n_bytes"),
    [
        (25_753_026_560, 25_753_026_560),
        ((25_753_026_560).to_bytes(8, "little"), 25_753_026_560),
        (b"", None),
        (b"\0" * 8, None),
        (b"x" * 9, None),
        (0, None),
        ("24 GB", None),
        (None, None),
    ],
)
def test_takes_a_number_or_bytes_as_size(value: object, n_bytes: int | None) -> None:
    assert registry_bytes(value) == n_bytes


def test_leaves_out_screens_that_are_no_cards_and_nvidias() -> None:
    machine = _machine(
        ListedGpu("Microsoft Basic Display Adapter"),
        ListedGpu("Parsec Virtual Display Adapter"),
        ListedGpu("NVIDIA GeForce RTX 4090", 1),
        ListedGpu("Intel(R) Arc(TM) A770 Graphics"),
    )
    assert machine.number("gpu.count") == 1
    assert machine.text("gpu.0.name") == "Intel(R) Arc(TM) A770 Graphics"
    fact = machine.fact("gpu.0.memory_total")
    assert fact and fact.reading.state is State.UNSUPPORTED


def test_no_card_is_a_normal_result_and_no_registry_is_not() -> None:
    fact = _machine().fact("gpu.count")
    assert fact and fact.reading.state is State.ABSENT
    host = FakeHost(platform="win32", basics=Basics(gpus=None))
    fact = Machine(facts=facts.join([windows_gpus.read(host)])).fact("gpu.count")
    assert fact and fact.reading.state is State.MISSING


def test_says_nothing_on_other_systems() -> None:
    assert windows_gpus.read(FakeHost(platform="linux")) == ()


def _desc(name: str, vendor: int, own: int, shared: int, *, flags: int = 0) -> bytes:
    text = name.encode("utf-16-le").ljust(256, b"\0")
    rest = struct.pack("<4I3Q2I", vendor, 1, 2, 3, own, 0, shared, 0xD1E5, 0)
    return text + rest + struct.pack("<2I", flags, 0)


def test_reads_what_dxgi_describes() -> None:
    adapter = dxgi.parse_desc(_desc("AMD Radeon RX 7900 XTX", 0x1002, 25 * GIB, 16 * GIB))
    assert adapter == Adapter(
        "AMD Radeon RX 7900 XTX", 0x1002, 25 * GIB, 0, 16 * GIB, "0x00000000_0x0000d1e5"
    )
    basic = dxgi.parse_desc(_desc("Microsoft Basic Render Driver", 0x1414, 0, 1, flags=2))
    assert basic and basic.is_software
    assert dxgi.parse_desc(b"\0" * 300) is None


@given(st.binary(max_size=400))
def test_reads_any_bytes(data: bytes) -> None:
    adapter = dxgi.parse_desc(data)
    assert (adapter is None) == (len(data) < 308)


def _laptop() -> Machine:
    """Return a laptop whose Intel GPU sits beside an NVIDIA card, which has its own probe."""
    intel = Adapter("Intel(R) Iris(R) Xe Graphics", 0x8086, 128 << 20, 0, 8 * GIB, "0x0_0x1")
    nvidia = Adapter("NVIDIA GeForce RTX 4060 Laptop GPU", 0x10DE, 8 * GIB, 0, 8 * GIB, "0x0_0x2")
    software = Adapter("Microsoft Basic Render Driver", 0x1414, 0, 0, 8 * GIB, "0x0_0x3", True)
    gone = ListedGpu("AMD Radeon RX 580", 8 * GIB)
    basics = Basics(
        adapters=(nvidia, intel, software),
        gpus=(ListedGpu("NVIDIA GeForce RTX 4060 Laptop GPU", 8 * GIB), gone),
    )
    return Machine(facts=windows_gpus.read(FakeHost(platform="win32", basics=basics)))


def test_a_gpu_that_shares_memory_is_told_from_a_card() -> None:
    machine = _laptop()
    assert machine.text("gpu.0.vendor") == "Intel"
    assert machine.flag("gpu.0.is_unified") is True
    assert machine.number("gpu.0.shared_limit") == 8 * GIB
    assert machine.fact("gpu.1.name") is None  # the card that was taken out, and software


def _counters() -> tuple[CounterValue, ...]:
    rows = [line.split("\t") for line in sample("pdh-gpu-process-memory.txt").splitlines() if line]
    return tuple(CounterValue(name, counter, int(value)) for name, counter, value in rows)


def test_sees_memory_of_a_program_that_fell_back_to_the_system() -> None:
    luid = "0x00000000_0x0000d1e5"
    spilled = pdh.spilled_bytes(_counters(), 14872, luid, pinned_bytes=300 << 20)
    assert spilled == 6_442_450_944 - (300 << 20)
    assert pdh.spilled_bytes(_counters(), 1, luid) is None
    assert pdh.spilled_bytes(_counters(), 14872, "0x00000000_0x0000e001") is None


def test_says_what_a_runtime_keeps_outside_of_the_card() -> None:
    card = Adapter("NVIDIA GeForce RTX 4060", 0x10DE, 8 * GIB, 0, 16 * GIB, "0x00000000_0x0000d1e5")
    server = ProcessInfo(14872, "llama-server.exe", None, ())
    basics = Basics(adapters=(card,), counters=_counters())
    host = FakeHost(platform="win32", basics=basics, processes=(server,))
    machine = Machine(facts=windows_gpus.read(host))
    assert machine.number("memory.spilled") == 6_442_450_944
    other = replace(server, name="game.exe")
    host = FakeHost(platform="win32", basics=basics, processes=(other,))
    assert Machine(facts=windows_gpus.read(host)).fact("memory.spilled") is None


def test_free_memory_is_what_the_adapters_counter_leaves() -> None:
    card = Adapter("AMD Radeon RX 7900 XTX", 0x1002, 24 * GIB, 0, 16 * GIB, "0x00000000_0x0000d1e5")
    counter = CounterValue("luid_0x00000000_0x0000D1E5_phys_0", "Dedicated Usage", 2 * GIB)
    basics = Basics(adapters=(card,), gpus=(), counters=(counter, *_counters()))
    machine = Machine(facts=windows_gpus.read(FakeHost(platform="win32", basics=basics)))
    assert machine.number("gpu.0.memory_free") == 22 * GIB


@pytest.mark.parametrize("name", ["", "pid_x_luid_0x0_0x0_phys_0", "luid_0x0", "_Total"])
def test_other_names_are_no_instances(name: str) -> None:
    assert pdh.parse_instance(name) is None


@pytest.mark.skipif(sys.platform == "win32", reason="asks Windows")
def test_other_systems_have_neither_list() -> None:
    assert dxgi.adapters() is None and pdh.collect() is None
