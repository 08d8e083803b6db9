"""GPUs: the driver's cards beside llama.cpp's devices, each card once."""

from dataclasses import replace

from app.core import facts
from app.core.gpus import GpuKind, gpus
from app.core.machine import Device, DeviceKind, Machine
from tests import machines

GIB = 1 << 30


def _device(name: str, kind: DeviceKind, text: str, total: int, free: int | None = None) -> Device:
    return Device(name, kind, text, total, total if free is None else free, "test")


def _card(index: int, vendor: str, name: str, total: int) -> Machine:
    prefix = f"gpu.{index}"
    return Machine(
        facts=(
            facts.known(f"{prefix}.vendor", vendor, source="test"),
            facts.known(f"{prefix}.name", name, source="test"),
            facts.known(f"{prefix}.memory_total", total, source="test", unit="bytes"),
        )
    )


def test_joins_each_card_with_its_device_when_the_orders_differ() -> None:
    found = gpus(machines.two_cards())
    assert [(gpu.name, gpu.devices[0].id) for gpu in found] == [
        ("NVIDIA GeForce RTX 4090", "CUDA1"),
        ("NVIDIA GeForce RTX 3060", "CUDA0"),
    ]


def test_two_cards_of_one_name_get_one_device_each() -> None:
    nvml = machines.nvidia(("NVIDIA L40", 46068, 45000), ("NVIDIA L40", 46068, 45000))
    devices = "  CUDA0: NVIDIA L40 (45467 MiB, 45000 MiB free)\n"
    devices += "  CUDA1: NVIDIA L40 (45467 MiB, 45000 MiB free)\n"
    found = gpus(machines.linux(devices, nvml))
    assert [[device.id for device in gpu.devices] for gpu in found] == [["CUDA0"], ["CUDA1"]]


def test_one_card_seen_by_two_backends_is_one_gpu() -> None:
    machine = Machine(
        devices=(
            _device("CUDA0", DeviceKind.CUDA, "NVIDIA GeForce RTX 4090", 24 * GIB),
            _device("Vulkan0", DeviceKind.VULKAN, "NVIDIA GeForce RTX 4090", 24 * GIB),
        )
    )
    (gpu,) = gpus(machine)
    assert [device.id for device in gpu.devices] == ["CUDA0", "Vulkan0"]


def test_a_laptop_card_is_not_the_desktop_card_of_its_name() -> None:
    machine = replace(
        _card(0, "NVIDIA", "NVIDIA GeForce RTX 4060 Ti", 8 * GIB),
        devices=(_device("CUDA0", DeviceKind.CUDA, "NVIDIA GeForce RTX 4060", 16 * GIB),),
    )
    card, listed = gpus(machine)
    assert not card.devices
    assert listed.index is None


def test_the_runtime_names_an_amd_card_that_the_driver_knows_by_numbers() -> None:
    (gpu,) = gpus(machines.strix_halo())
    assert gpu.name == "AMD Radeon Graphics (RADV GFX1151)"
    assert gpu.index == 0
    assert gpu.kind is GpuKind.SHARED


def test_says_when_more_memory_is_lent_than_there_is() -> None:
    (gpu,) = gpus(machines.strix_halo())
    assert len(gpu.notes) == 1
    assert "128 GiB" in gpu.notes[0]
    assert "125 GiB" in gpu.notes[0]


def test_a_software_device_is_no_gpu() -> None:
    (gpu,) = gpus(machines.software_only())
    assert gpu.kind is GpuKind.SOFTWARE
    assert not gpu.is_real
    assert not gpu.notes


def test_a_device_of_another_computer_is_none_of_this_one() -> None:
    machine = Machine(devices=(_device("RPC0", DeviceKind.RPC, "10.0.0.2:50052", 8 * GIB),))
    (gpu,) = gpus(machine)
    assert gpu.kind is GpuKind.REMOTE
    assert not gpu.is_real


def test_marks_more_free_than_there_is() -> None:
    device = _device("CUDA0", DeviceKind.CUDA, "a card", 32 * GIB, 54 * GIB)
    (gpu,) = gpus(Machine(devices=(device,)))
    assert "54.00 GiB free of 32.00 GiB" in gpu.notes[0]


def test_says_that_a_vulkan_card_may_hide_what_is_in_use() -> None:
    (gpu,) = gpus(Machine(devices=(_device("Vulkan0", DeviceKind.VULKAN, "AMD RX 7900", 8 * GIB),)))
    assert "may not tell" in gpu.notes[0]


def test_says_that_the_two_totals_differ() -> None:
    machine = replace(
        _card(0, "NVIDIA", "NVIDIA A100", 80 * GIB),
        devices=(_device("CUDA0", DeviceKind.CUDA, "NVIDIA A100", 40 * GIB, GIB),),
    )
    (gpu,) = gpus(machine)
    assert "80.00 GiB" in gpu.notes[0]
    assert "40.00 GiB" in gpu.notes[0]


def test_a_healthy_card_has_no_note() -> None:
    assert [gpu.notes for gpu in gpus(machines.two_cards())] == [(), ()]
