"""Whole machines: a recording gives the snapshot that was read by a person, to the byte."""

import json
from pathlib import Path

import pytest

from app import cli
from app.core.doubts import doubts
from app.probes import recorded
from app.probes.recorder import RecordingHost
from app.work.machine_reader import read_machine
from tests import composed_hosts
from tests.hosts import HOSTS

NAMES = sorted(path.parent.name for path in HOSTS.glob("*/expected.json"))


def test_each_composed_machine_has_its_folder() -> None:
    assert set(NAMES) == {*composed_hosts.machines(), "vm-llvmpipe"}


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_gives_its_snapshot(name: str) -> None:
    expected = json.loads((HOSTS / name / "expected.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(composed_hosts.snapshot(name))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_command_replays_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["hardware", "--json", "--replay", str(HOSTS / name)]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = json.loads((HOSTS / name / "expected.json").read_text(encoding="utf-8"))
    # the command writes ~ for the home folder; all else is the same
    assert [(f["path"], f["value"]) for f in shown["facts"]] == [
        (f["path"], f["value"]) for f in expected["facts"]
    ]
    assert [d["id"] for d in shown["devices"]] == [d["id"] for d in expected["devices"]]


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_of_a_recording_is_the_same_machine(name: str, tmp_path: Path) -> None:
    host = recorded.load(HOSTS / name)
    recorder = RecordingHost(host, host.chosen)
    first = read_machine(recorder, host.chosen)
    recorder.save(tmp_path / "again")
    again = recorded.load(tmp_path / "again")
    assert read_machine(again, again.chosen) == first


def test_only_the_strix_halo_claims_what_cannot_be() -> None:
    for name in NAMES:
        host = recorded.load(HOSTS / name)
        found = doubts(read_machine(host, host.chosen))
        assert bool(found) == (name == "strix-halo"), (name, found)
