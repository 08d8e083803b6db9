"""A container without its device is told by the driver's answer inside."""

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary
from app.core.machine import Machine
from app.core.rule import Certainty
from app.rules.container_lost_gpu import check, silent
from tests.rules import made

LINE = made.event(Fact.GPU_LOST, 1, "Failed to initialize NVML: Unknown Error")
LOG = LogSummary("nvidia-smi.txt", 1, events=(LINE,))


def test_names_the_container_when_the_driver_stops_answering_inside() -> None:
    inside = Machine(facts=(facts.known("os.container", "docker", source="test"),))
    finding = check(Evidence(log=LOG, machine=inside))
    assert finding is not None
    assert finding.certainty is Certainty.PROVEN
    assert "Restart the container" in finding.fix.text
    assert "native.cgroupdriver=cgroupfs" in finding.fix.command
    assert finding.cites[0].line == 1


def test_stays_likely_when_a_container_is_not_known() -> None:
    finding = check(Evidence(log=LOG))
    assert finding is not None and finding.certainty is Certainty.LIKELY


def test_is_silent_when_the_driver_answers() -> None:
    evidence = Evidence(log=LogSummary("server.log", 10))
    assert check(evidence) is None
    assert silent(evidence) == ""
