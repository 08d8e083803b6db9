"""A variable that hides a GPU counts only for that vendor, and where nothing is on a device."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Role
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
