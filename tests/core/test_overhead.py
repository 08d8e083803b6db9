"""What a driver keeps for itself on a card, and where nothing is kept."""

from dataclasses import replace

import pytest

from app.core.machine import Device, DeviceKind
from app.core.overhead import margin_of, overhead_of, sentence
from app.core.units import GIB, MIB

LISTED = "/opt/llama-server --list-devices"


def card(kind: DeviceKind, name: str = "", source: str = "typed in") -> Device:
    """Return a card of 24 GiB."""
    return Device(f"{kind.name}0", kind, name, 24 * GIB, 23 * GIB, source)


@pytest.mark.parametrize(
    ("device", "platform", "mib"),
    [
        (card(DeviceKind.CUDA, "NVIDIA GeForce RTX 4090"), "linux", 500),
        (card(DeviceKind.CUDA, "NVIDIA GeForce RTX 5090"), "linux", 750),
        (card(DeviceKind.CUDA, "NVIDIA RTX PRO 6000 Blackwell"), "linux", 750),
        (card(DeviceKind.ROCM, "AMD Radeon RX 7900 XT"), "linux", 350),
        (card(DeviceKind.VULKAN, "AMD Radeon RX 6700 XT"), "linux", 750),
        (card(DeviceKind.VULKAN, "AMD Radeon RX 9070 XT"), "win32", 1000),
        (card(DeviceKind.CUDA, "NVIDIA GeForce RTX 4090", LISTED), "linux", 200),
    ],
)
def test_a_card_loses_what_was_seen_on_idle_cards(device: Device, platform: str, mib: int) -> None:
    found = overhead_of(device, platform=platform)
    assert found is not None
    assert found.n_bytes == mib * MIB
    assert found.low < found.high
    assert found.source.startswith("unaccounted memory in public logs")


@pytest.mark.parametrize(
    "device",
    [
        card(DeviceKind.RPC),
        card(DeviceKind.METAL),
        card(DeviceKind.SYCL),
        replace(card(DeviceKind.VULKAN, "llvmpipe"), is_software=True),
        replace(card(DeviceKind.CUDA, "GB10"), is_integrated=True),
    ],
    ids=lambda device: device.kind.value,
)
def test_nothing_is_kept_where_there_is_no_card_or_no_figure(device: Device) -> None:
    assert overhead_of(device) is None
    assert margin_of(device, 0) == 0
    assert sentence((device,)) == ""


def test_a_margin_is_the_larger_of_target_and_driver() -> None:
    device = card(DeviceKind.CUDA)
    assert margin_of(device, 1024 * MIB) == 1024 * MIB
    assert margin_of(device, 100 * MIB) == 500 * MIB


def test_cards_that_are_alike_are_named_together() -> None:
    two = (card(DeviceKind.CUDA), replace(card(DeviceKind.CUDA), id="CUDA1"))
    assert sentence(two) == (
        "500 MiB each are kept for the driver's own use on CUDA0 and CUDA1 (unaccounted memory in "
        "public logs: A40 and RTX 4090)."
    )
