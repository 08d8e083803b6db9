"""slowscope hardware: text and JSON of a recorded machine, recordings, and no Qt."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.core.hardware_json import SCHEMA
from app.core.machine_text import machine_text
from app.core.reading import State
from app.core.short_home import short_home
from app.probes import recorder
from app.probes.recorder import RecordingHost
from app.work.machine_reader import read_machine
from app.work.settings import LLAMA_FOLDER, Settings
from tests.hosts import HOSTS, fake_host, sample
from tests.house.tree import ROOT

RECORDING = str(HOSTS / "vm-llvmpipe")


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main(["hardware", "--json", *arguments]) == cli.ANSWERED
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_prints_the_recorded_machine_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hardware", "--replay", RECORDING]) == cli.ANSWERED
    machine = read_machine(fake_host("vm-llvmpipe"))
    assert capsys.readouterr().out == machine_text(short_home(machine, "/home/user"))


def test_prints_each_fact_with_value_source_and_state(capsys: pytest.CaptureFixture[str]) -> None:
    found = _json(capsys, "--replay", RECORDING)
    assert found["schema"] == SCHEMA == "slowscope.hardware/1"
    states = {state.value for state in State}
    for fact in found["facts"]:
        assert fact.keys() == {"path", "value", "unit", "source", "state", "reason", "doubt"}
        assert fact["state"] in states
        assert (fact["value"] is None) == (fact["state"] != "known")
        assert fact["value"] is not None or fact["reason"]
    by_path = {fact["path"]: fact for fact in found["facts"]}
    assert by_path["swap.total"]["value"] is None
    assert by_path["swap.total"]["state"] == "absent"
    assert isinstance(by_path["memory.total"]["value"], int)
    assert by_path["memory.total"]["unit"] == "bytes"


def test_the_home_folder_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(_json(capsys, "--replay", RECORDING))
    assert "/home/user" not in text


def test_the_folder_chosen_in_the_window_is_looked_into(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = "/home/user/.cache/slowscope/vulkan-10434"
    Settings().set(LLAMA_FOLDER, folder)
    monkeypatch.setattr("app.cli.hardware.RealHost", lambda: fake_host("vm-llvmpipe"))
    found = _json(capsys)
    assert [device["id"] for device in found["devices"]] == ["Vulkan0"]
    assert found["devices"][0]["is_software"] is True
    assert found["devices_source"].startswith("~/")
    assert found["runtimes"][0]["source"] == "chosen folder"


def test_a_recording_replays_as_the_same_machine(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("app.cli.hardware.RealHost", lambda: fake_host("vm-llvmpipe"))
    folder = tmp_path / "recording"
    first = _json(capsys, "--record", str(folder))
    assert _json(capsys, "--replay", str(folder)) == first


def test_refuses_to_record_into_a_folder_with_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert cli.main(["hardware", "--record", str(tmp_path)]) == cli.BAD_USAGE
    message = capsys.readouterr().err
    assert "not empty" in message
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_refuses_to_record_and_to_replay_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["hardware", "--record", str(tmp_path), "--replay", RECORDING]
    assert cli.main(arguments) == cli.BAD_USAGE
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_that_is_no_recording_is_status_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main(["hardware", "--replay", str(tmp_path)]) == cli.UNREADABLE
    streams = capsys.readouterr()
    assert "host.json" in streams.err
    assert not streams.out


def test_a_recording_that_cannot_be_written_is_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(_self: RecordingHost, folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(recorder.RecordingHost, "save", refuse)
    monkeypatch.setattr("app.cli.hardware.RealHost", lambda: fake_host("vm-llvmpipe"))
    assert cli.main(["hardware", "--record", str(tmp_path / "new")]) == cli.FAILED
    assert "Permission denied" in capsys.readouterr().err


@pytest.mark.real
def test_reads_this_computer_at_once_and_without_qt(tmp_path: Path) -> None:
    program = (
        "import sys, json\n"
        "from app import cli\n"
        "status = cli.main(['hardware', '--json'])\n"
        "loaded = [name for name in sys.modules if name.split('.')[0] in ('PySide6', 'numpy')]\n"
        "sys.exit(f'loaded {loaded[:3]}' if loaded else status)\n"
    )
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # 2 s without load; the tests run beside others
    assert time.monotonic() - start < 6
    assert json.loads(done.stdout)["schema"] == SCHEMA


def test_keeps_what_a_tool_printed_until_it_is_forgotten(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("app.cli.hardware.RealHost", lambda: fake_host("vm-llvmpipe"))
    file = tmp_path / "dmi.txt"
    file.write_text(sample("dmidecode-two-of-four.txt"))

    def channels(*arguments: str) -> tuple[object, str]:
        facts = _json(capsys, *arguments)["facts"]
        fact = next(one for one in facts if one["path"] == "memory.channels")
        return fact["value"], fact["source"]

    value, source = channels("--add", str(file))
    assert value == 2 and source.startswith("dmidecode (pasted 2")
    assert channels()[0] == 2
    assert channels("--forget", "dmidecode")[0] is None
    file.write_text("hello")
    assert cli.main(["hardware", "--add", str(file)]) == cli.UNREADABLE
    assert "Nothing in it was understood" in capsys.readouterr().err
    assert cli.main(["hardware", "--add", str(tmp_path / "no")]) == cli.UNREADABLE
    assert cli.main(["hardware", "--forget", "x", "--replay", RECORDING]) == cli.BAD_USAGE
