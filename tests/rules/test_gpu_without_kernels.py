"""A GPU that the compute library has no code for is named, without an override of its version."""

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary, Value
from app.rules.gpu_without_kernels import check, silent
from tests.rules import made

LINE = made.event(Fact.GPU_NO_KERNELS, 1, "rocBLAS error: ... : gfx1036", arch="gfx1036")


def test_offers_vulkan_when_the_library_has_no_code() -> None:
    finding = check(Evidence(log=LogSummary("run.log", 14, events=(LINE,))))
    assert finding is not None
    assert "gfx1036" in finding.cause
    assert "Vulkan" in finding.fix.text
    assert "OVERRIDE" not in finding.fix.text + finding.fix.command


def test_is_silent_when_no_library_refused() -> None:
    evidence = Evidence(log=LogSummary("run.log", 14))
    assert check(evidence) is None
    assert silent(evidence) == ""


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("CUDA error: no kernel image is available", {}, "another build"),
        ("CUDA GPU is too old.", {"capability": "5.2"}, "compute capability 5.2"),
        ("CUDA error: device kernel image is invalid", {}, "newer driver"),
    ],
)
def test_speaks_of_builds_and_drivers_when_the_card_is_nvidia_s(
    text: str, values: dict[str, Value], words: str
) -> None:
    line = made.event(Fact.GPU_NO_KERNELS, 3, text, **values)
    finding = check(Evidence(log=LogSummary("server.log", 4, events=(line,))))
    assert finding is not None
    assert words in f"{finding.cause} {finding.fix.text}"
    assert "ROCm" not in finding.cause
