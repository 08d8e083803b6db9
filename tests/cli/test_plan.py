"""slowscope plan: figures as text and as JSON, and a sentence for everything that is refused."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.core.bench import BenchRun, Test
from app.core.units import MIB
from app.work.notebook import Entry, Notebook
from tests.gguf.build import Gguf, dense
from tests.house.tree import ROOT

DEVICE = ("--device-free", "2000")
SUBJECTS = ("slowscope: ", "slowscope: The header of ")


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Return the path of a llama of two blocks."""
    return str(dense().write(tmp_path / "small.gguf"))


def plan(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the JSON of a plan."""
    assert cli.main(["plan", *words, "--json"]) == cli.ANSWERED, capsys.readouterr().err
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def rows_of(found: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return the rows by buffer."""
    return {row["buffer"]: row for row in found["rows"]}


def test_the_document_has_what_is_promised(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = plan(capsys, small, *DEVICE, "--ngl", "2", "--ctx", "4096", "--cpu", "none")
    assert found["schema"] == "slowscope.plan/1"
    assert (found["ngl"], found["layers_total"], found["ctx"]) == (2, 3, 4096)
    assert [layer["device"] for layer in found["layers"]] == [None, "CUDA0", "CUDA0"]
    assert found["kv"] == [
        {"cells": 4096, "layers": 2, "streams": 1, "window": False, "bytes": 4 * MIB}
    ]
    for row in found["rows"]:
        assert row["kind"] == ("device" if row["buffer"] == "CUDA0" else "host")
        assert row["compute_low_bytes"] <= row["compute_bytes"] <= row["compute_high_bytes"]
    assert 0 < found["f"] < 1
    assert found["f_source"]
    assert (found["r"], found["slowdown"]) == (None, None)
    assert "r is not known" in found["slowdown_reason"]
    assert found["fit"]["steps"][0]["log_line"].startswith("projected to use")
    assert found["host"]["cpu"] == "none"
    sizes = [value for row in found["rows"] for key, value in row.items() if key.endswith("bytes")]
    assert all(isinstance(size, int) for size in sizes)


def test_the_slowdown_follows_from_a_ratio_that_is_given(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = plan(capsys, small, *DEVICE, "--ngl", "2", "--slow-ratio", "6")
    assert found["r"] == {
        "value": 6.0, "low": 6.0, "high": 6.0, "source": "typed in (--slow-ratio)", "kind": "typed",
    }  # fmt: skip
    slowdown = found["slowdown"]
    share = 0.75 * found["f"] + 0.25 * found["f_layers"]
    assert slowdown["value"] == pytest.approx(1 + 5 * share)
    assert slowdown["low"] <= 1 + 5 * found["f"] <= slowdown["high"]
    assert slowdown["low"] <= slowdown["value"] <= slowdown["high"]
    assert slowdown["kind"] == "calculated"


def test_the_table_has_a_row_per_number_of_layers(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = plan(capsys, small, *DEVICE, "--table", "--slow-ratio", "6")
    assert [line["ngl"] for line in found["table"]] == [0, 1, 2, 3]
    shares = [line["f"] for line in found["table"]]
    assert shares == sorted(shares, reverse=True)
    assert all(line["fits"] for line in found["table"])
    assert cli.main(["plan", small, *DEVICE, "--table"]) == cli.ANSWERED
    lines = capsys.readouterr().out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("layers"))
    assert [line.split()[0] for line in lines[head + 1 : head + 5]] == ["0", "1", "2", "3"]


def test_the_text_has_every_figure_with_its_unit(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", small, *DEVICE, "--ngl", "2", "--slow-ratio", "6"]
    assert cli.main(words) == cli.ANSWERED
    text = capsys.readouterr().out
    rows = [line for line in text.splitlines() if line.startswith(("CUDA0", "Host"))]
    assert all(line.count("MiB") >= 4 for line in rows)
    for words_ in ("2 of 3 layers", "KV cache", "6.00×", "Slowdown", "--fit", "Source: "):
        assert words_ in text


def test_described_devices_have_the_kind_and_limits_that_are_given(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = plan(
        capsys, small, "--device-free", "100,200", "--device-kind", "vulkan",
        "--device-max-buffer", "64",
    )  # fmt: skip
    assert [(d["id"], d["free_bytes"], d["max_buffer_bytes"]) for d in found["devices"]] == [
        ("Vulkan0", 100 * MIB, 64 * MIB),
        ("Vulkan1", 200 * MIB, 64 * MIB),
    ]
    usual = plan(capsys, small, "--device-free", "100", "--device-kind", "vulkan")
    assert usual["devices"][0]["max_buffer_bytes"] == 4096 * MIB
    assert plan(capsys, small, "--device-free", "9")["devices"][0]["max_buffer_bytes"] is None


@pytest.mark.parametrize("words", [("--no-device",), ("--device-free", "500", "--ngl", "0")])
def test_all_bytes_are_on_the_host_without_a_device_or_layers(
    small: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = plan(capsys, small, *words)
    assert found["f"] == 1
    assert all(layer["device"] is None for layer in found["layers"])


def test_all_load_options_reach_the_request(small: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--program llama-fit-params --ctx 2048 --cache-type-k q8_0 --cache-type-v q8_0 "
        "--flash-attn on --batch 1024 --ubatch 128 --parallel 2 --no-kv-offload --swa-full "
        "--split-mode row --main-gpu 1 --tensor-split 3,1 --cpu-moe --n-cpu-moe 1 --n-cpu-ffn 1 "
        "--override-tensor a=CPU,b=CUDA1 --no-host --no-repack --no-op-offload --load-mode mlock "
        "--fit-target 300 --fit-ctx 512"
    )
    found = plan(capsys, small, "--device-free", "500,500", *words.split())
    wanted = {
        "program": "llama-fit-params", "ngl": None, "ctx": 2048, "cache_type_k": "q8_0",
        "cache_type_v": "q8_0", "flash_attn": "on", "batch": 1024, "ubatch": 128, "parallel": 2,
        "kv_offload": False, "swa_full": True, "use_devices": True, "device_ids": [],
        "main_gpu": 1, "split_mode": "row", "tensor_split": [3.0, 1.0], "n_cpu_moe": 1,
        "cpu_moe": True, "n_cpu_ffn": 1, "overrides": [["a", "CPU"], ["b", "CUDA1"]],
        "host_buffers": False, "repack": False, "op_offload": False, "load_mode": "mlock",
        "fit_target_mib": 300, "fit_targets_mib": [], "fit_ctx": 512, "threads": None,
        "projector_path": "",
    }  # fmt: skip
    assert {name: found["request"][name] for name in wanted} == wanted
    assert plan(capsys, small, "--no-device")["request"]["use_devices"] is False


@pytest.mark.parametrize(
    "words",
    [
        "--ngl many", "--ctx -1", "--parallel 300", "--cache-type-k q9", "--flash-attn perhaps",
        "--tensor-split a,b", "--tensor-split 0,0 --device-free 9,9", "--slow-ratio 0",
        "--slow-ratio nan", "--override-tensor ffn", "--override-tensor x=Nowhere --no-device",
        "--override-tensor (=CPU --no-device", "--device-kind cuda", "--device-free 1 --no-device",
        "--device-free 1,2 --device-max-buffer 1,2,3", "--device-free -5", "--load-mode odd",
        "--cache-type-v q4_0 --flash-attn off --no-device", "--tensor-split 1,2,3 --no-device",
    ],
)  # fmt: skip
def test_a_bad_option_ends_with_2_and_one_sentence(
    small: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["plan", small, *words.split()]) == cli.BAD_USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    "content", [None, b"", b"GGUF", b"<html>", b"GGUF\x03\0\0\0" + b"\xff" * 40]
)
def test_an_unreadable_file_ends_with_3(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.gguf"
    if content is not None:
        path.write_bytes(content)
    assert cli.main(["plan", str(path), "--no-device"]) == cli.UNREADABLE
    assert capsys.readouterr().err.partition("bad.gguf")[0] in SUBJECTS


def test_a_file_that_is_no_language_model_ends_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Gguf({"general.architecture": "clip"}).write(tmp_path / "mmproj.gguf")
    assert cli.main(["plan", str(path), "--no-device"]) == cli.UNREADABLE
    assert "does not describe a language model" in capsys.readouterr().err


def test_a_projector_and_a_draft_have_rows_of_their_own(
    small: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    eyes = str(Gguf({"general.architecture": "clip"}).write(tmp_path / "mmproj.gguf"))
    found = plan(capsys, small, *DEVICE, "--mmproj", eyes, "--draft", small)
    projector, draft = found["beside"]
    assert (projector["kind"], projector["verified"]) == ("projector", False)
    assert (draft["kind"], draft["verified"]) == ("draft", True)
    assert draft["rows"][0]["weights_bytes"] == found["rows"][0]["weights_bytes"]
    assert cli.main(["plan", small, *DEVICE, "--draft", small]) == cli.ANSWERED
    assert "Beside it the draft small.gguf" in capsys.readouterr().out
    missing = ["plan", small, *DEVICE, "--draft", "nowhere.gguf"]
    assert cli.main(missing) == cli.UNREADABLE


def test_an_unfinished_download_is_planned_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = plan(capsys, str(dense().write(tmp_path / "a.gguf")), *DEVICE)
    cut = plan(capsys, str(dense().write(tmp_path / "b.gguf", missing_bytes=1000)), *DEVICE)
    assert cut["rows"] == whole["rows"]
    assert cut["model"]["problems"][0]["missing_bytes"] == 1000
    assert "missing" in cut["not_calculated"][0]


def test_a_ratio_from_own_runs_is_not_used_for_described_devices(
    small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tuple(
        BenchRun(Test.GENERATION, 128, (rate, rate * 1.01), "llama-bench", (("n_gpu_layers", ngl),),
                 model_name="small.gguf")
        for ngl, rate in (("0", 5.0), ("99", 40.0))
    )  # fmt: skip
    Notebook().append(Entry("1", "2026-01-01T00:00:00Z", "small.gguf", runs))
    assert plan(capsys, small, *DEVICE)["r"] is None


def test_runs_without_qt(small: str) -> None:
    code = (
        "import sys; from app.__main__ import main; status = main(sys.argv[1:]);"
        "bad = [m for m in sys.modules if m.startswith(('PySide6', 'pyqtgraph', 'shiboken'))];"
        "sys.exit(status or (9 if bad else 0))"
    )
    for words in ([*DEVICE, "--table"], ["--no-device", "--json"], ["--json"]):
        argv = [sys.executable, "-c", code, "plan", small, *words]
        done = subprocess.run(
            argv, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
