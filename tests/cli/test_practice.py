"""slowscope practice: lists five faults with their predictions, makes them, and sees them named."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app import cli
from app.core.machine import Device, DeviceKind
from app.core.practice import IDS
from app.core.units import GIB
from app.work.settings import N_GEN, N_PROMPT, Settings
from tests.cli import computer
from tests.work import stand_ins

pytestmark = pytest.mark.usefixtures("qapp")

CARD = Device("Vulkan0", DeviceKind.VULKAN, "card", 8 * GIB, 7 * GIB, "list", is_integrated=False)


def _words(monkeypatch: pytest.MonkeyPatch, folder: Path, *devices: Device) -> list[str]:
    """Return the command on a computer with these devices and stand-ins."""
    server = stand_ins.server(folder, log=stand_ins.LOG_DEVICE_NONE)
    seen = stand_ins.evidence(server, stand_ins.bench(folder))
    assert seen.machine is not None
    computer.use(monkeypatch, replace(seen, machine=replace(seen.machine, devices=devices)))
    settings = Settings()
    settings.set(N_PROMPT, 64)
    settings.set(N_GEN, 16)
    return ["practice", str(stand_ins.model(folder)), *computer.folder_of(folder)]


def test_lists_and_predicts_without_running_anything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert cli.main(_words(monkeypatch, tmp_path, CARD)) == cli.ANSWERED
    text = capsys.readouterr().out
    assert [line.split(":")[0] for line in text.splitlines() if not line.startswith(" ")] == [*IDS]
    assert "f will be 100.0 %" in text and "r is not known" in text
    assert not (tmp_path / "server.told").exists()


def test_says_why_a_fault_cannot_be_made_without_a_device(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert cli.main([*_words(monkeypatch, tmp_path), "--json"]) == cli.ANSWERED
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "slowscope.practice/1"
    assert all("lists no device" in fault["why_not"] for fault in document["faults"])
    assert all(fault["result"] is None for fault in document["faults"])


def test_loads_nothing_where_no_fault_can_be_made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = _words(monkeypatch, tmp_path)
    assert cli.main([*words, "--fault", "all"]) == cli.ANSWERED
    text = capsys.readouterr().out
    assert text.count("Not possible here: llama.cpp lists no device here") == len(IDS)
    assert "none can be taken away" in text and "the cache takes no room from layers" in text
    assert not (tmp_path / "server.told").exists()


def test_makes_one_fault_after_the_healthy_load_and_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = _words(monkeypatch, tmp_path, CARD)
    assert cli.main([*words, "--fault", "a-no-device", "--json"]) == cli.ANSWERED
    document = json.loads(capsys.readouterr().out)
    results = {fault["id"]: fault["result"] for fault in document["faults"]}
    assert [name for name, result in results.items() if result] == ["a-no-device"]
    made = results["a-no-device"]
    assert made["rule"] == "device-present-but-unused" and made["is_named"]
    # one healthy load before it
    assert (tmp_path / "server.told.tries").read_text() == "2"


def test_tells_what_was_made_and_that_nothing_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = _words(monkeypatch, tmp_path, CARD)
    assert cli.main([*words, "--fault", "a-no-device"]) == cli.ANSWERED
    text = capsys.readouterr().out
    assert "Named: A device is there, but not used. The evidence line gave it away." in text
    assert "nothing is left" in text


def test_refuses_a_fault_and_a_server_that_do_not_exist(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = str(stand_ins.model(tmp_path))
    assert cli.main(["practice", model, "--fault", "f"]) == cli.BAD_USAGE
    assert cli.main(["practice", model, "--rpc", "127.0.0.1"]) == cli.BAD_USAGE
    assert "HOST:PORT" in capsys.readouterr().err
    assert cli.main(["practice", str(tmp_path / "none.gguf")]) == cli.UNREADABLE
