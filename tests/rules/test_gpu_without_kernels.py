"""A GPU that the compute library has no code for is named, without an override of its version."""

from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary
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
