"""slowscope diagnose: one answer from files or from a guided run, as text, JSON, PDF, evidence."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.core import codec
from app.core.facts import known
from app.core.symptom import Symptom
from app.work import headless
from app.work.jobs import Cancelled
from app.work.notebook import Notebook
from app.work.settings import N_GEN, N_PROMPT, Settings
from tests.cli import computer
from tests.hosts import HOSTS
from tests.work import stand_ins

LOGS = Path(__file__).parents[1] / "data" / "logs"
NO_DEVICE = LOGS / "b10434-vulkan-device-none-ngl99-lv4.log"  # its one device is software
DEVICE_OFF = LOGS / "b11434-rpc-one-device-ngl99-device-none-lv4.log"
FULL = LOGS / "b10434-vulkan-full-offload-lv4.log"
BENCH_ROWS = LOGS / "b11434-llama-bench-cpu-jsonl.jsonl"
RECORDING = HOSTS / "vm-llvmpipe"

pytestmark = pytest.mark.usefixtures("qapp")


def _diagnose(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert cli.main(["diagnose", *map(str, words)]) == cli.ANSWERED
    return capsys.readouterr().out


def _json(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    document = json.loads(_diagnose(capsys, *words, "--json"))
    assert document["schema"] == "slowscope.diagnose/1"
    assert isinstance(document, dict)
    return document


def _refused(capsys: pytest.CaptureFixture[str], status: int, *words: object) -> str:
    assert cli.main(["diagnose", *map(str, words)]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert len(lines) == 1, "one sentence"
    return lines[0]


def test_names_the_fault_of_a_log_with_its_lines_and_one_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = _diagnose(capsys, NO_DEVICE)
    words = " ".join(text.split())
    assert text.startswith("Proven: A device is there, but not used\n")
    assert "Nothing is on the GPU: the program lists Vulkan0" in words
    assert "\n  line 144: load_tensors:   CPU_Mapped model buffer size =   235.16 MiB\n" in text
    assert "\n  line 142: load_tensors: offloaded 19/19 layers to GPU\n" in text
    assert "Leave it as it is: the only device is software" in words
    assert "Remove --device" not in words
    for heading in ("The one change", "Evidence", "Ruled out", "Not checked", "Speed"):
        assert f"\n{heading}\n" in text
    assert "No slowdown is predicted: no model file was read" in words


def test_finds_nothing_in_a_healthy_log_and_says_what_was_ruled_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = _json(capsys, FULL)
    assert document["verdict"]["rule"] is None
    assert document["verdict"]["title"] == "Nothing found"
    because = {ruled["rule"]: ruled["because"] for ruled in document["ruled_out"]}
    assert "of weights are on a device" in because["device-present-but-unused"]
    assert _diagnose(capsys, FULL).startswith("Result: Nothing found\n")


def test_makes_one_evidence_of_a_log_a_model_a_recording_and_bench_rows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "evidence.json"
    document = _json(
        capsys, DEVICE_OFF, stand_ins.model(tmp_path), RECORDING, BENCH_ROWS,
        "--ngl", "99", "--device", "none", "--symptom", "slow-writing", "--evidence", path,
    )  # fmt: skip
    assert document["verdict"]["rule"] == "device-present-but-unused"
    assert document["verdict"]["fix"]["text"].startswith("Remove --device none")
    assert document["prediction"]["f"] == 1.0
    assert document["measured"]["generation_tps"]["source"] == "llama-bench"
    evidence = codec.loads(path.read_bytes())
    assert evidence.log is not None and evidence.log.name == DEVICE_OFF.name
    assert evidence.model is not None and evidence.model.arch == "llama"
    assert evidence.machine is not None and evidence.machine.text("cpu.model")
    assert evidence.request is not None and evidence.request.ngl == 99
    assert (len(evidence.runs), evidence.symptom) == (2, Symptom.SLOW_WRITING.value)
    # nothing was run here, so nothing is kept here
    assert Notebook().read().entries == ()


def test_opens_its_own_evidence_again_with_the_same_verdict(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "evidence.json"
    first = _json(capsys, DEVICE_OFF, "--evidence", path)
    again = _json(capsys, path)
    # folders are taken out of what is written, so they are not in its command
    assert "/models/" in first["verdict"]["fix"].pop("command")
    assert "<folder>/" in again["verdict"]["fix"].pop("command")
    assert again == first


def test_refuses_load_options_beside_evidence_that_has_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "evidence.json"
    _diagnose(capsys, NO_DEVICE, "--ngl", "99", "--evidence", path)
    assert "leave the options out" in _refused(capsys, cli.BAD_USAGE, path, "--ngl", "9")


def test_refuses_two_of_what_there_can_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Give one log; 2 were given." in _refused(capsys, cli.BAD_USAGE, NO_DEVICE, FULL)
    sentence = _refused(capsys, cli.BAD_USAGE, RECORDING, RECORDING)
    assert "Give one hardware recording" in sentence


def test_refuses_programs_for_a_log(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = (NO_DEVICE, *computer.folder_of(tmp_path))
    assert "--llama-bin is for loading a model" in _refused(capsys, cli.BAD_USAGE, *words)


def test_says_what_a_folder_must_hold(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sentence = _refused(capsys, cli.UNREADABLE, tmp_path)
    assert "is a folder, and holds no hardware recording (host.json and files" in sentence
    assert "name the file itself" in sentence


def test_says_which_file_cannot_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "gone.log is not there" in _refused(
        capsys, cli.UNREADABLE, NO_DEVICE, tmp_path / "gone.log"
    )
    page = tmp_path / "model.gguf"
    page.write_text("<!DOCTYPE html><html></html>")
    assert "web page" in _refused(capsys, cli.UNREADABLE, page)
    assert "host.json" in _refused(capsys, cli.UNREADABLE, tmp_path)


@pytest.mark.parametrize("option", ["--pdf", "--evidence"])
def test_refuses_a_folder_that_is_not_there_before_the_work(
    option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "no" / "file"
    assert "There is no folder" in _refused(capsys, cli.BAD_USAGE, NO_DEVICE, option, path)


def test_loads_and_measures_a_model_that_is_named_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, bench = stand_ins.server(tmp_path), stand_ins.bench(tmp_path)
    computer.use(monkeypatch, stand_ins.evidence(server, bench))
    settings = Settings()
    settings.set(N_PROMPT, 48)
    settings.set(N_GEN, 24)
    model, pdf = stand_ins.model(tmp_path), tmp_path / "report.pdf"
    words = (model, *computer.folder_of(tmp_path), "--ngl", "9", "--threads", "2")
    assert cli.main(["diagnose", *map(str, words), "--json", "--pdf", str(pdf)]) == cli.ANSWERED
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["measured"]["generation_tps"]["n"] > 1
    assert "Loading the model with llama-server ..." in printed.err
    assert f"Written: {pdf}" in printed.err
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert " -ngl 9 -t 2 -c 4096 " in server.told.splitlines()[0]
    assert "-p 48 -n 24" in bench.told
    (entry,) = Notebook().read().entries
    assert (entry.source, len(entry.runs)) == ("diagnose", 2)


def test_leaves_the_context_to_the_program_when_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = stand_ins.server(tmp_path, log=stand_ins.LOG_NO_MEMORY, end="sys.exit(1)")
    computer.use(monkeypatch, stand_ins.evidence(server))
    words = (stand_ins.model(tmp_path), *computer.folder_of(tmp_path), "--ctx", "default")
    document = _json(capsys, *words)
    # a failed load is an answer
    assert document["verdict"]["rule"] == "load-failed"
    assert " -c " not in server.told


def test_answers_without_any_llama_cpp(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer.use(monkeypatch, stand_ins.evidence())
    document = _json(capsys, stand_ins.model(tmp_path))
    assert document["verdict"]["rule"] is None
    assert any("No llama-server was found" in note for note in document["notes"])


def test_keeps_the_answer_when_the_notebook_cannot_be_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer.use(
        monkeypatch, stand_ins.evidence(stand_ins.server(tmp_path), stand_ins.bench(tmp_path))
    )
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SLOWSCOPE_DATA", str(tmp_path / "file"))
    words = ("diagnose", str(stand_ins.model(tmp_path)), *computer.folder_of(tmp_path))
    assert cli.main(words) == cli.ANSWERED
    printed = capsys.readouterr()
    assert "Speed" in printed.out
    assert "the run could not be kept in" in printed.err


def test_says_so_when_it_was_stopped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_given: object) -> None:
        raise Cancelled

    monkeypatch.setattr(headless, "run_diagnose", stop)
    sentence = _refused(capsys, cli.FAILED, stand_ins.model(tmp_path))
    assert sentence == "slowscope: Stopped."


def test_proves_a_ranked_change_by_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = stand_ins.server(tmp_path, log=stand_ins.LOG_DEVICE_NONE)
    bench = stand_ins.bench(tmp_path)
    seen = stand_ins.evidence(server, bench)
    assert seen.machine is not None
    cores = known("cpu.physical", 1, source="/proc/cpuinfo")
    computer.use(monkeypatch, replace(seen, machine=replace(seen.machine, facts=(cores,))))
    words = (stand_ins.model(tmp_path), *computer.folder_of(tmp_path), "--threads", "4")
    document = _json(capsys, *words, "--prove", "--change", "fewer-threads")
    assert "fewer-threads" in [option["id"] for option in document["options"]]
    assert document["proof"]["rule"] is None
    assert document["proof"]["title"] == "As many threads as cores"
    assert document["proof"]["change"] == {"threads": None}
    text = _diagnose(capsys, *words)
    assert "fewer-threads: As many threads as cores" in text
    assert _json(capsys, *words, "--prove", "--change", "more-layers")["proof"] is None
    assert "quicker" in _refused(capsys, cli.BAD_USAGE, *words, "--prove", "--change", "quicker")
    assert "--prove" in _refused(capsys, cli.BAD_USAGE, *words, "--change", "fewer-threads")
