"""A plan says what the driver of a card takes beside llama.cpp's buffers."""

import json
from pathlib import Path

import pytest

from app import cli
from app.core.units import MIB
from tests.gguf.build import dense

CARD = ("--device-free", "24000", "--ngl", "99", "--ctx", "512")


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Return the path of a llama of two blocks."""
    return str(dense().write(tmp_path / "small.gguf"))


def planned(path: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Return what the command prints."""
    assert cli.main(["plan", path, *CARD, *options]) == cli.ANSWERED
    return capsys.readouterr().out


def test_a_card_keeps_memory_for_its_driver(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "500 MiB are kept for the driver's own use on CUDA0" in planned(small, capsys)
    device = json.loads(planned(small, capsys, "--json"))["devices"][0]
    assert device["driver_bytes"]["value"] == 500 * MIB
    assert device["driver_bytes"]["kind"] == "table"


def test_a_remote_device_keeps_nothing_here(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "driver" not in planned(small, capsys, "--device-kind", "rpc")
    document = json.loads(planned(small, capsys, "--device-kind", "rpc", "--json"))
    assert document["devices"][0]["driver_bytes"] is None
