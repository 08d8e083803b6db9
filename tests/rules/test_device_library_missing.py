"""A build that knows GPUs and cannot use them is told from one that was made without."""

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent, LogSummary
from app.core.machine import Machine
from app.core.rule import Certainty
from app.rules.device_library_missing import check, silent
from tests.rules import made

CARD = Machine(facts=(facts.known("gpu.0.name", "NVIDIA GeForce RTX 4070", source="nvml"),))
FAILED = made.event(Fact.BACKEND_FAILED, 2, "failed to load ggml-cpu-haswell.dll", file="ggml")
CPU_ONLY = made.event(Fact.SYSTEM_INFO, 3, "system info", features="CPU : LLAMAFILE = 1", threads=8)


def seen(*events: LogEvent, machine: Machine | None = CARD) -> Evidence:
    """Make evidence of a start."""
    return Evidence(log=LogSummary("server.log", 9, events=events), machine=machine)


def test_asks_to_reinstall_when_only_the_cpu_is_left() -> None:
    finding = check(seen(FAILED, CPU_ONLY))
    assert finding is not None
    assert "RTX 4070" in finding.cause
    assert "Reinstall" in finding.fix.text
    assert [cite.line for cite in finding.cites] == [3, 2, None]


def test_is_silent_when_a_library_of_another_processor_fails() -> None:
    loaded = made.event(Fact.BACKEND_LOADED, 1, "loaded CUDA backend", backend="CUDA", file="x")
    evidence = seen(loaded, FAILED, CPU_ONLY)
    assert check(evidence) is None
    assert silent(evidence) == "the library for CUDA was loaded"


def test_is_silent_when_there_is_no_gpu() -> None:
    assert check(seen(FAILED, CPU_ONLY, machine=Machine())) is None


@pytest.mark.parametrize(
    ("reason", "fix"),
    [
        ("CUDA driver version is insufficient for CUDA runtime version", "newer driver"),
        ("unknown error", "Restart the computer"),
        ("no CUDA-capable device is detected", "nvidia-smi"),
    ],
)
def test_names_what_the_driver_says(reason: str, fix: str) -> None:
    line = made.event(Fact.NO_GPU_WARNING, 1, f"failed to initialize CUDA: {reason}", reason=reason)
    finding = check(seen(line))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert fix in finding.fix.text
