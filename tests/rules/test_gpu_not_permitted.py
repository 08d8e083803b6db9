"""A GPU that may not be opened: who has to be let in, at home and in a container."""

from dataclasses import replace

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary
from app.core.machine import Machine
from app.rules import no_gpu_backend
from app.rules.gpu_not_permitted import check, needs
from tests.rules import made

LINE = made.event(
    Fact.GPU_FORBIDDEN, 1, "open /dev/kfd: permission denied", path="/dev/kfd"
)  # fmt: skip
NONE = made.event(Fact.NO_GPU_WARNING, 2, 'msg="no compatible GPUs were discovered"')
REFUSED = Evidence(log=LogSummary("server.log", 3, events=(LINE, NONE)))


def test_names_the_groups_when_a_file_is_refused() -> None:
    finding = check(REFUSED)
    assert finding is not None
    assert "/dev/kfd" in finding.cause
    assert "usermod -aG video,render" in finding.fix.command


def test_gives_the_groups_to_a_container() -> None:
    inside = Machine(facts=(facts.known("os.container", "docker", source="cgroup"),))
    finding = check(replace(REFUSED, machine=inside))
    assert finding is not None and "--group-add" in finding.fix.text


def test_keeps_others_from_asking_for_another_build() -> None:
    assert no_gpu_backend.check(REFUSED) is None


def test_is_silent_without_such_a_line() -> None:
    evidence = Evidence(log=LogSummary("server.log", 3, events=(NONE,)))
    assert check(evidence) is None
    assert needs(evidence) == ""
