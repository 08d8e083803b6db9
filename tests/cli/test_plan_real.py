"""slowscope plan beside the real programs: the same figures for the same load."""

import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.core.fit import fit
from app.core.host_memory import host_of
from app.core.machine import Device, DeviceKind
from app.core.placement import prepare
from app.core.request import Tool
from app.core.units import MIB
from app.gguf.model import read_model
from app.probes.host import RealHost
from app.work.machine_reader import read_machine
from tests.truth.rows import request_of

pytestmark = pytest.mark.real

LIMIT_S = 120  # a load takes 2 s
VULKAN = ("--device-kind", "vulkan", "--device-free", "2048", "--device-max-buffer", "128")
LLVMPIPE = Device(
    "Vulkan0", DeviceKind.VULKAN, "llvmpipe", 2048 * MIB, 2048 * MIB, "test", 128 * MIB, True
)
BUFFER = re.compile(r"(\S+) +(model|KV|compute|output) buffer size = +([\d.]+) MiB")
FIT_LINE = re.compile(r"common_(?:params_fit_impl|fit_params): ?(.*)")
FIT_NOISE = re.compile(r"getting device|took|test allocation|id=\d|filling|set ngl")


def plan(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> dict[str, Any]:
    """Return the JSON of a plan, with its rows by buffer."""
    assert cli.main(["plan", str(path), *words, "--json"]) == cli.ANSWERED
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    found["rows"] = {row["buffer"]: row for row in found["rows"]}
    return found


def mib(n_bytes: int) -> float:
    """Round as llama.cpp prints it."""
    return round(n_bytes / MIB, 2)


def lines_of(server: Path, until: str, *words: str) -> Iterator[str]:
    """Yield what a server prints while it loads, up to a line; then end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [str(server), "-lv", "4", "-t", "1", "--no-warmup", "--host", "127.0.0.1"]
    with subprocess.Popen(
        [*argv, "--port", str(port), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "GGML_VK_VISIBLE_DEVICES": "0"},
    ) as process:
        assert process.stdout is not None
        limit = threading.Timer(LIMIT_S, process.kill)
        limit.start()
        try:
            for line in process.stdout:
                yield line
                if until in line:
                    return
            raise AssertionError(f"the server ended before it printed {until!r}")
        finally:
            limit.cancel()
            limit.join()
            process.kill()


def buffers(server: Path, *words: str) -> dict[tuple[str, str], float]:
    """Return the buffer lines of a real load in MiB, by buffer and role."""
    found: dict[tuple[str, str], float] = {}
    for line in lines_of(server, "listening on http", *words):
        if match := BUFFER.search(line):
            key = (match[1], match[2])
            found[key] = round(found.get(key, 0) + float(match[3]), 2)
    return found


def test_gemma_on_a_vulkan_device_has_the_figures_of_the_live_server(
    gemma: Path, vulkan_server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = plan(capsys, gemma, "--ngl", "9", "--ctx", "4096", *VULKAN, "--build", "10434")
    rows = found["rows"]
    assert mib(rows["Vulkan0"]["weights_bytes"]) == 29.34
    assert mib(rows["Vulkan0"]["context_bytes"]) == 23.00
    assert mib(rows["Host"]["context_bytes"]) == 26.50
    live = buffers(vulkan_server, "-m", str(gemma), "-ngl", "9", "-c", "4096")
    assert live["Vulkan0", "model"] == 29.34
    assert live["Vulkan0", "KV"] == 23.00
    assert live["CPU", "KV"] == 26.50
    # the load maps the file, so the line shows the range; AMX and CPU_REPACK have their own
    assert live["CPU_Mapped", "model"] == mib(found["mapped_bytes"])
    repacked = {name: row for name, row in rows.items() if name not in ("Vulkan0", "Host")}
    assert {name: mib(row["weights_bytes"]) for name, row in repacked.items()} == {
        name: size
        for (name, role), size in live.items()
        if role == "model" and name not in ("Vulkan0", "CPU_Mapped")
    }
    assert live["Vulkan_Host", "output"] == mib(found["output_bytes"])
    for buffer, name in (("Vulkan0", "Vulkan0"), ("Host", "Vulkan_Host")):
        low, high = rows[buffer]["compute_low_bytes"], rows[buffer]["compute_high_bytes"]
        assert low / MIB - 1 <= live[name, "compute"] <= high / MIB + 1


def test_gemma_on_the_host_alone_has_the_figures_of_the_live_server(
    gemma: Path, llama_bin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # this build knows AVX2 and nothing newer
    words = ("--no-device", "--ctx", "4096", "--cpu", "avx2", "--build", "11434")
    found = plan(capsys, gemma, *words)
    live = buffers(llama_bin / "llama-server", "-m", str(gemma), "-c", "4096")
    rows = found["rows"]
    assert live["CPU_Mapped", "model"] == mib(found["mapped_bytes"])
    assert live["CPU_REPACK", "model"] == mib(rows["CPU_REPACK"]["weights_bytes"])
    assert live["CPU", "KV"] == mib(rows["Host"]["context_bytes"])
    assert live["CPU", "output"] == mib(found["output_bytes"])
    low, high = rows["Host"]["compute_low_bytes"], rows["Host"]["compute_high_bytes"]
    assert low / MIB - 1 <= live["CPU", "compute"] <= high / MIB + 1


def test_the_dry_pass_prints_the_rows_of_the_plan(
    gemma: Path, llama_bin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ("-c 4096", "-c 32768 -ctk q8_0 -ctv q8_0", "-c 8192 --swa-full -ub 256"):
        long = words.replace("-ctk", "--cache-type-k").replace("-ctv", "--cache-type-v")
        long = re.sub("-ub", "--ubatch", re.sub(r"(?<!-)-c ", "--ctx ", long))
        program = "--program llama-fit-params --no-device --cpu avx2 --build 11434"
        rows = plan(capsys, gemma, *program.split(), *long.split())["rows"]
        argv = [str(llama_bin / "llama-fit-params"), "-m", str(gemma), "-lv", "4", "-t", "1"]
        done = subprocess.run(
            [*argv, "--fit-print", "on", *words.split()],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        printed = next(
            line for line in done.stdout.splitlines() if re.match(r"Host \d+ \d+ \d+", line)
        )
        weights, context, compute = (int(word) for word in printed.split()[1:4])
        assert weights == rows["Host"]["weights_bytes"] // MIB
        assert context == rows["Host"]["context_bytes"] // MIB
        low, high = rows["Host"]["compute_low_bytes"], rows["Host"]["compute_high_bytes"]
        assert low / MIB - 1 <= compute <= high / MIB + 1


def test_a_cut_7b_file_is_planned_from_its_header(
    deepseek_header: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--ngl", "10", "--ctx", "4096", "--device-free", "24000", "--device-kind", "vulkan")
    found = plan(capsys, deepseek_header, *words)
    row = found["rows"]["Vulkan0"]
    assert mib(row["weights_bytes"]) == 1654.78
    assert mib(row["context_bytes"]) == 72.00
    assert found["model"]["problems"][0]["fault"] == "truncated-data"
    assert "missing" in found["not_calculated"][0]


def test_without_options_the_devices_of_this_computer_are_used(
    gemma: Path,
    vulkan_server: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", f"{vulkan_server.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")
    found = plan(capsys, gemma, "--ngl", "9", "--ctx", "4096")
    assert found["build"] is None  # the wheel was made from an archive and prints none
    assert [(d["id"], d["max_buffer_bytes"]) for d in found["devices"]] == [("Vulkan0", 128 * MIB)]
    assert mib(found["rows"]["Vulkan0"]["weights_bytes"]) == 29.34


@pytest.mark.parametrize(
    "words",
    [
        "", "-fitt 1900", "-c 4096 -fitt 1990", "-c 0 -fitt 1900", "-ngl 5 -fitt 2040",
        "-ngl 99 -fitt 1900", "-fitt 1900 -fitc 8192", "-c 8192 -fitt 1930", "-np 2 -fitt 1850",
        "-fitt 1900 -ctk q8_0 -ctv q8_0", "-c 4096 -fitt 2000 --cpu-moe", "-fitt 1980",
    ],
)  # fmt: skip
def test_the_fit_takes_the_same_decisions_as_the_live_server(
    words: str, gemma: Path, vulkan_server: Path
) -> None:
    request = request_of(Tool.SERVER, words.split())
    host = host_of(read_machine(RealHost()))
    result = fit(prepare(read_model(gemma)), (LLVMPIPE,), host, request, 10434)
    printed = []
    end = "fitting params to free memory took"
    for line in lines_of(vulkan_server, end, "-m", str(gemma), *words.split()):
        match = FIT_LINE.search(line)
        if match and not FIT_NOISE.search(match[1]):
            printed.append(match[1])
    ours = [step.log_line for step in result.steps]
    # the name of the device depends on the version of Mesa
    plain = [re.sub(r"\(.*?\)\)?:", ":", re.sub(r"\d+", "N", line)) for line in printed]
    assert [re.sub(r"\(.*?\):", ":", re.sub(r"\d+", "N", line)) for line in ours] == plain
    # compute is known to 3 MiB here, partial offload with its copies to 20; layers follow from it
    for own, said in zip(ours, printed, strict=True):
        if "layers," in own:
            assert abs(_layers(own) - _layers(said)) <= 2
            continue
        numbers = zip(*(re.findall(r"(\d+) MiB", line) for line in (own, said)), strict=True)
        assert all(abs(int(a) - int(b)) <= (20 if "-ngl 5" in words else 3) for a, b in numbers)


def _layers(line: str) -> int:
    return int(line.rpartition(" layers,")[0].split()[-1])
