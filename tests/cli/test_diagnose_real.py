"""slowscope diagnose and bench as commands, with the real programs and a real model."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.probes import system
from app.probes.host import RealHost
from app.work.settings import N_GEN, N_PROMPT, Settings
from tests.cli.programs import is_alive, programs_of
from tests.house.tree import ROOT

pytestmark = pytest.mark.real

GEMMA_LAYERS = 19
TIME_LIMIT_S = 240


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, user_folders: Path) -> None:
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")
    settings = Settings()
    settings.set(N_PROMPT, 32)
    settings.set(N_GEN, 8)


def _words(command: str, model: Path, folder: Path, *more: str) -> list[str]:
    words = ["--llama-bin", str(folder), "--threads", "1", *more]
    return [sys.executable, "-m", "app", command, str(model), *words]


def _run(command: str, model: Path, folder: Path, *more: str) -> str:
    done = subprocess.run(
        _words(command, model, folder, *more), cwd=ROOT, capture_output=True, text=True,
        timeout=TIME_LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def _json(command: str, model: Path, folder: Path, *more: str) -> dict[str, Any]:
    document = json.loads(_run(command, model, folder, *more, "--json"))
    assert isinstance(document, dict)
    return document


def _rules(document: dict[str, Any]) -> set[str]:
    """Return what was found, first or also; a busy test machine is no surprise."""
    found = {document["verdict"]["rule"], *(finding["rule"] for finding in document["also"])}
    return found - {None, "machine-busy", "spilling-to-swap"}


def test_says_that_nothing_is_on_the_gpu_when_devices_are_off(
    vulkan_server: Path, gemma: Path, tmp_path: Path
) -> None:
    pdf = tmp_path / "report.pdf"
    words = ("--device", "none", "--ngl", "99", "--pdf", str(pdf))
    text = " ".join(_run("diagnose", gemma, vulkan_server.parent, *words).split())
    assert text.startswith("Proven: A device is there, but not used Nothing is on the GPU: ")
    # the program claims the contrary, and the answer says so
    assert f"The line “offloaded {GEMMA_LAYERS}/{GEMMA_LAYERS} layers to GPU” repeats" in text
    # llvmpipe is all there is, and it is slower than the processor's own kernels
    assert "Leave it as it is: the only device is software" in text
    assert "Remove --device none" not in text
    page = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, check=True)
    # its fonts join ff and fi to one sign
    printed = " ".join(unicodedata.normalize("NFKC", page.stdout.decode()).split())
    assert "CPU_Mapped model buffer size = 235.16 MiB" in printed
    assert "Nothing is on the GPU" in printed
    assert str(gemma.parent) not in printed


def test_diagnoses_a_run_with_layers_on_the_device(vulkan_server: Path, gemma: Path) -> None:
    # few layers and no flash attention: llvmpipe is slow, and its flash attention crashes
    words = ("--ngl", "2", "--ctx", "512", "--flash-attn", "off")
    document = _json("diagnose", gemma, vulkan_server.parent, *words)
    assert document["verdict"]["certainty"] in ("proven", "likely", "not-proven")
    assert "device-present-but-unused" in {rule["rule"] for rule in document["ruled_out"]}
    assert 0.9 < document["prediction"]["f"] < 1.0
    measured = document["measured"]
    assert measured["generation_tps"]["value"] > 0 and measured["prompt_tps"]["value"] > 0
    assert measured["generation_tps"]["settings"]["n_gpu_layers"] == "2"


def test_finds_no_fault_of_placement_in_a_build_without_gpu(llama_bin: Path, gemma: Path) -> None:
    document = _json("diagnose", gemma, llama_bin)
    # no layers were asked for: without a GPU in the computer the processor is normal
    assert _rules(document) <= {"no-gpu-backend"}
    assert document["prediction"]["f"] == 1.0
    assert document["measured"]["generation_tps"]["source"] == "llama-bench"


def test_names_the_build_without_gpu_when_layers_were_asked_for(
    llama_bin: Path, gemma: Path
) -> None:
    document = _json("diagnose", gemma, llama_bin, "--ngl", "99")
    # the tests themselves may run in a container that was not given a GPU: that comes first
    is_container = any(
        fact.path == "os.container" and fact.reading.value for fact in system.PROBE.read(RealHost())
    )
    first = "container-without-gpu" if is_container else "no-gpu-backend"
    assert document["verdict"]["rule"] == first
    assert "no-gpu-backend" in _rules(document)


def test_names_the_cut_file_when_the_load_fails(llama_bin: Path, deepseek_header: Path) -> None:
    document = _json("diagnose", deepseek_header, llama_bin)
    verdict = document["verdict"]
    assert (verdict["rule"], verdict["title"]) == ("load-failed", "The model file is damaged")
    assert any("not within the file bounds" in cite["text"] for cite in verdict["cites"])
    assert document["measured"] == {"prompt_tps": None, "generation_tps": None}


def test_benchmarks_as_a_command(llama_bin: Path, gemma: Path) -> None:
    document = _json("bench", gemma, llama_bin, "--repetitions", "2")
    assert [(run["test"], run["n_tokens"], run["n"]) for run in document["runs"]] == [
        ("prompt", 32, 2), ("generation", 8, 2),
    ]  # fmt: skip
    for run in document["runs"]:
        assert run["low"] <= run["mean_tps"] <= run["high"]
        assert run["settings"]["n_threads"] == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="the guard is that of Linux")
@pytest.mark.parametrize("step", ["Loading the model with", "Measuring prompt and"])
def test_leaves_no_program_when_the_command_is_killed(
    step: str, llama_bin: Path, gemma: Path, qtbot: QtBot
) -> None:
    settings = Settings()
    settings.set(N_GEN, 4000)
    command = psutil.Popen(
        _words("diagnose", gemma, llama_bin), cwd=ROOT, env=dict(os.environ), stdout=-3, stderr=-1
    )
    try:
        assert any(line.decode().startswith(step) for line in command.stderr), "it never began"
        qtbot.waitUntil(lambda: bool(programs_of(command)), timeout=30_000)
        programs = programs_of(command)
        command.kill()
        command.wait()
        qtbot.waitUntil(lambda: not any(map(is_alive, programs)), timeout=10_000)
    finally:
        if command.is_running():
            command.kill()
        command.wait()
        command.stderr.close()
