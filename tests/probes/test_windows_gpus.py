"""Cards on Windows from the registry: 64-bit sizes, and what is no card."""

import json

import pytest

from app.core import facts
from app.core.host import Basics, ListedGpu
from app.core.machine import Machine
from app.core.reading import State
from app.probes import windows_gpus
from app.probes.operating_system import registry_bytes
from tests.hosts import SAMPLES, FakeHost


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
