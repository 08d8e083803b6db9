"""slowscope bench: both rates apart as a table and as JSON, each run kept in the notebook."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.core.evidence import Evidence
from app.core.machine import Device, DeviceKind, Machine
from app.work.notebook import Notebook
from tests.cli import computer
from tests.work import stand_ins

pytestmark = pytest.mark.usefixtures("qapp")


def _bench(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> str:
    model = str(stand_ins.model(folder))
    assert cli.main(["bench", model, *computer.folder_of(folder), *words]) == cli.ANSWERED
    return capsys.readouterr().out


def _json(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> dict[str, Any]:
    document = json.loads(_bench(capsys, folder, *words, "--json"))
    assert document["schema"] == "slowscope.bench/1"
    assert isinstance(document, dict)
    return document


def _failed(capsys: pytest.CaptureFixture[str], status: int, *words: object) -> str:
    assert cli.main(["bench", *map(str, words)]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.splitlines()[-1]


def test_prints_both_rates_with_intervals_and_keeps_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = stand_ins.bench(tmp_path)
    computer.use(monkeypatch, stand_ins.evidence(bench))
    text = _bench(
        capsys, tmp_path, "--n-prompt", "32", "--n-gen", "8", "--depth", "16",
        "--repetitions", "2", "--threads", "1", "--ngl", "3", "--cache-type-k", "q8_0",
    )  # fmt: skip
    assert text.splitlines()[0].endswith(": llama-bench, CPU")
    # a busy computer is told in the same column
    rows = [line.replace("(busy)", "").split() for line in text.splitlines()]
    assert ["prompt", "32", "0", "6.07", "tok/s", "too", "few", "repetitions"] in [
        row[:8] for row in rows
    ]
    assert ["generation", "8", "0", "0.59", "tok/s", "too", "few", "repetitions"] in [
        row[:8] for row in rows
    ]
    for words in ("-p 32 -n 8 -r 2", "-d 16", "-t 1", "-ngl 3", "-ctk q8_0"):
        assert words in bench.told
    (entry,) = Notebook().read().entries
    assert (entry.source, len(entry.runs)) == ("benchmark", 2)


def test_gives_the_run_as_json_with_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer.use(monkeypatch, stand_ins.evidence(stand_ins.bench(tmp_path)))
    document = _json(capsys, tmp_path)
    assert [run["test"] for run in document["runs"]] == ["prompt", "generation"]
    assert {run["source"] for run in document["runs"]} == {"llama-bench"}
    assert document["command"][0] == str(tmp_path / "llama-bench")
    assert document["watched"] is None or document["watched"]["memory"]["source"]
    (entry,) = Notebook().read().entries
    assert {run["run_id"] for run in document["runs"]} == {entry.run_id}


def test_measures_through_the_server_where_there_is_no_llama_bench(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = stand_ins.server(tmp_path)
    computer.use(monkeypatch, stand_ins.evidence(server))
    document = _json(capsys, tmp_path, "--n-prompt", "40", "--n-gen", "20", "--repetitions", "2")
    assert {run["source"] for run in document["runs"]} == {"llama-server"}
    assert [run["n_tokens"] for run in document["runs"]] == [40, 20]
    assert any("the rates are the server's own timings" in note for note in document["notes"])
    assert document["watched"]["memory"]["cores"] >= 1
    assert isinstance(document["watched"]["limits_reached"], list)
    # a context that holds the test and no more
    assert " -c 104 " in server.told.splitlines()[0]
    (entry,) = Notebook().read().entries
    assert (entry.source, entry.placement.offload_line) == ("benchmark", (9, 19))


def test_says_why_there_are_no_rates(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = stand_ins.model(tmp_path)
    folder = computer.folder_of(tmp_path)
    bench = stand_ins.bench(tmp_path, complaint="main: error: failed to load model 'a.gguf'")
    computer.use(monkeypatch, stand_ins.evidence(bench))
    assert "failed to load model 'a.gguf'" in _failed(capsys, cli.FAILED, model, *folder)
    Path(bench.program.path).unlink()
    server = stand_ins.server(tmp_path, end="sys.exit(1)")
    computer.use(monkeypatch, stand_ins.evidence(server))
    sentence = _failed(capsys, cli.FAILED, model, *folder)
    assert "exit code 1" in sentence and "slowscope diagnose" in sentence
    assert "--depth needs llama-bench" in _failed(
        capsys, cli.FAILED, model, *folder, "--depth", "8"
    )
    assert Notebook().read().entries == ()


def test_says_what_to_choose_without_any_llama_cpp(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer.use(monkeypatch, Evidence(machine=Machine()))
    sentence = _failed(capsys, cli.FAILED, stand_ins.model(tmp_path))
    assert "No llama-bench was found on this computer" in sentence
    assert "--llama-bin DIR" in sentence


def test_tells_bad_usage_from_a_file_that_cannot_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    model = stand_ins.model(tmp_path)
    assert "There is no llama-bench and no llama-server in" in _failed(
        capsys, cli.BAD_USAGE, model, *computer.folder_of(empty)
    )
    assert "--n-gen" in _failed(capsys, cli.BAD_USAGE, model, "--n-gen", "1")
    # llama-bench sizes its own context
    assert "--ctx" in _failed(capsys, cli.BAD_USAGE, model, "--ctx", "4096")
    assert "gone.gguf" in _failed(capsys, cli.UNREADABLE, tmp_path / "gone.gguf")


def test_names_the_devices_there_are_when_another_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = stand_ins.evidence(stand_ins.bench(tmp_path)).machine
    assert found is not None
    device = Device("CUDA0", DeviceKind.CUDA, "A card", None, None, "test")
    machine = replace(found, devices=(device,), devices_source="llama-server --list-devices")
    computer.use(monkeypatch, Evidence(machine=machine))
    model, folder = stand_ins.model(tmp_path), computer.folder_of(tmp_path)
    said = _failed(capsys, cli.BAD_USAGE, model, *folder, "--device", "Foo")
    assert "no device Foo" in said
    assert "lists CUDA0; none uses the processor alone." in said


def test_says_what_is_missing_of_a_file_that_no_program_loads(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = stand_ins.model(tmp_path)
    model.write_bytes(model.read_bytes()[:-40])
    said = _failed(capsys, cli.UNREADABLE, model)
    assert "is incomplete: 40 of " in said
