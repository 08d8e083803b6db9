"""A variable that hides a GPU counts only for that vendor, and where nothing is on a device."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact, LogSummary, Role
from app.core.machine import Machine
from app.core.rule import Certainty
from app.rules.device_hidden import check, needs, silent
from tests.rules import made

NVIDIA = Machine(facts=(facts.known("gpu.0.name", "NVIDIA GeForce RTX 4070", source="NVML"),))
ON_HOST = made.story(buffers=(made.buffer("CPU_Mapped", Role.WEIGHTS, 4000, 9),), devices=())
HIDDEN = replace(made.seen(ON_HOST), machine=NVIDIA, variables=(("CUDA_VISIBLE_DEVICES", "-1"),))


def test_names_the_variable_when_nothing_is_on_a_device() -> None:
    finding = check(HIDDEN)
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert finding.cites[0].text == "CUDA_VISIBLE_DEVICES = -1"
    assert finding.fix.command == "unset CUDA_VISIBLE_DEVICES"


@pytest.mark.parametrize(
    "evidence",
    [
        replace(HIDDEN, variables=(("CUDA_VISIBLE_DEVICES", "0"),)),
        replace(HIDDEN, variables=(("ROCR_VISIBLE_DEVICES", ""),)),
        replace(
            HIDDEN,
            log=made.seen(made.story(buffers=(made.buffer("CUDA0", Role.WEIGHTS, 4000, 9),))).log,
        ),
    ],
    ids=["a device is named", "another vendor", "weights on a device"],
)
def test_is_silent_when_it_hides_nothing(evidence: Evidence) -> None:
    assert check(evidence) is None
    assert silent(evidence)


def test_is_not_checked_when_the_environment_is_not_known() -> None:
    assert needs(replace(HIDDEN, variables=())) == "the environment of the runtime was not read"


def test_takes_the_variable_from_the_log_without_the_computer() -> None:
    text = 'msg="user overrode visible devices" CUDA_VISIBLE_DEVICES=-1'
    line = made.event(Fact.VARIABLE, 2, text, name="CUDA_VISIBLE_DEVICES", value="-1")
    finding = check(made.seen(ON_HOST, line))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert finding.cites[0].line == 2
    one = made.event(Fact.VARIABLE, 2, text, name="CUDA_VISIBLE_DEVICES", value="1")
    assert check(made.seen(ON_HOST, one)) is None


def test_a_list_of_devices_is_enough_and_none_is_said() -> None:
    line = made.event(Fact.VARIABLE, 1, "", name="CUDA_VISIBLE_DEVICES", value="-1")
    log = LogSummary("server.log", 3, events=(line,))
    assert check(Evidence(log=log)) is None
    assert "no list of devices" in needs(Evidence(log=log))
    listed = replace(log, events=(line, made.listed("cpu", "cpu", line=3)))
    assert check(Evidence(log=listed)) is not None
    other = replace(log, events=(line, made.listed("CUDA0", line=3)))
    assert check(Evidence(log=other)) is None and "listed" in silent(Evidence(log=other))
